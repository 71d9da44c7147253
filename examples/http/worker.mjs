// A worker in JavaScript: node worker.mjs QUEUE. Claims runs over HTTP until none comes for 2 s.
// CULEX_HTTP is the console, CULEX_TOKEN a token with role work.
const api = `${process.env.CULEX_HTTP ?? "http://127.0.0.1:7420"}/api/v1/`;

async function post(path, body) {
  const headers = {"Content-Type": "application/json", Authorization: `Bearer ${process.env.CULEX_TOKEN ?? ""}`};
  const answer = await fetch(api + path, {method: "POST", headers, body: JSON.stringify(body)});
  const told = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(told.error.message), {status: answer.status});
  return told;
}

async function handle(job, params) {
  console.log(job, params.words);
}

async function run(claim) {
  const beats = setInterval(() => post(`claims/${claim.token}/heartbeat`, {lease: "30s"}).catch(() => {}), 10_000);
  try {
    const failure = await handle(claim.job, claim.params).then(() => null, (reason) => ({reason}));
    if (failure === null) await post(`claims/${claim.token}/complete`, {});
    // Of a long text the store keeps 4 KiB.
    else await post(`claims/${claim.token}/fail`, {error: [...String(failure.reason)].slice(0, 2000).join("")});
  } catch (refused) {
    // 409: the lease was over, and another has the run.
    console.error(refused.message);
  } finally {
    clearInterval(beats);
  }
}

async function work(queue) {
  for (;;) {
    const {claim} = await post(`queues/${queue}/claim`, {wait: "2s", lease: "30s"});
    if (claim === null) return;
    await run(claim);
  }
}

await work(process.argv[2]).catch((refused) => {
  console.error(refused.message);
  process.exitCode = 1;
});
