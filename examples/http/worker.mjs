// A worker in JavaScript: node worker.mjs QUEUE. Claims runs over HTTP until none comes for 2 s.
// CULEX_HTTP is the console, CULEX_TOKEN a token with role work.
const api = `${process.env.CULEX_HTTP ?? "http://127.0.0.1:7420"}/api/v1/`;
const leaseS = 30;

async function post(path, body) {
  const headers = {"Content-Type": "application/json", Authorization: `Bearer ${process.env.CULEX_TOKEN ?? ""}`};
  const signal = AbortSignal.timeout(30_000);
  const answer = await fetch(api + path, {method: "POST", headers, body: JSON.stringify(body), signal});
  const told = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(told.error.message), {status: answer.status});
  return told;
}

// As post, but asks again: the console or its store may be back before the lease is over.
async function postAgain(path, body) {
  for (const end = Date.now() + leaseS * 1000; ;) {
    try {
      return await post(path, body);
    } catch (failure) {
      // One without a status is a lost connection.
      if ((failure.status ?? 503) !== 503 || Date.now() > end) throw failure;
    }
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

async function handle(job, params) {
  console.log(job, params.words);
}

async function run(claim) {
  const beats = setInterval(() => post(`claims/${claim.token}/heartbeat`, {}).catch(() => {}), 10_000);
  try {
    const failure = await handle(claim.job, claim.params).then(() => null, (reason) => ({reason}));
    if (failure === null) await postAgain(`claims/${claim.token}/complete`, {});
    // Of a long text the store keeps 4 KiB.
    else await postAgain(`claims/${claim.token}/fail`, {error: [...String(failure.reason)].slice(0, 2000).join("")});
  } catch (refused) {
    // 409: the lease was over, and another has the run.
    console.error(refused.message);
  } finally {
    clearInterval(beats);
  }
}

async function work(queue) {
  for (;;) {
    const {claim} = await postAgain(`queues/${queue}/claim`, {wait: "2s", lease: `${leaseS}s`});
    if (claim === null) return;
    await run(claim);
  }
}

await work(process.argv[2]).catch((refused) => {
  console.error(refused.message);
  process.exitCode = 1;
});
