// bench/peers/bullmq.js - BullMQ with the work of a benchmark: enqueue|drain PORT COUNT
const { Queue, Worker } = require('bullmq');

const [verb, port, count] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const connection = { host: '127.0.0.1', port, maxRetriesPerRequest: null };

function answer(start) {
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  process.stdout.write(JSON.stringify({ count, seconds }) + '\n', () => process.exit(0));
}

async function enqueue() {
  const queue = new Queue('bench', { connection, defaultJobOptions: { removeOnComplete: true } });
  await queue.waitUntilReady();
  const start = process.hrtime.bigint();
  for (let number = 0; number < count; number++) {
    await queue.add('bench', {
      to: 'ann@shop.example', subject: 'Hello, is anybody there?', number, flag: true,
      campaign: '01020304-0506-0708-090a-0b0c0d0e0f10',
    });
  }
  answer(start);
}

async function drain() {
  let done = 0;
  const worker = new Worker('bench', async () => {}, { connection, autorun: false });
  await worker.waitUntilReady();
  const start = process.hrtime.bigint();
  worker.on('completed', () => { if (++done === count) answer(start); });
  worker.run();
}

(verb === 'enqueue' ? enqueue : drain)();
