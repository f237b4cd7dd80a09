// The npm package webhdfs does what its users do: rest_webhdfs.js MODULES PORT DIRECTORY.
// What comes back must be what was sent; anything else is an AssertionError.
'use strict';

const assert = require('assert');
const path = require('path');
const { promisify } = require('util');
const { PassThrough } = require('stream');

const [modules, port, root] = process.argv.slice(2);
const WebHDFS = require(path.join(modules, 'webhdfs'));
const hdfs = WebHDFS.createClient({ user: 'root', host: '127.0.0.1', port: Number(port), path: '/webhdfs/v1' });
const ask = (name) => promisify(hdfs[name].bind(hdfs));
const data = Buffer.alloc(3000000);
for (let i = 0; i < data.length; i++) {
  data[i] = (i * 31) % 251;
}

function finished(stream, chunks) {
  return new Promise((resolve, reject) => {
    stream.on('data', (chunk) => chunks && chunks.push(chunk));
    stream.once('error', reject);
    stream.once('finish', resolve);
  });
}

async function read(name, options) {
  const chunks = [];
  await finished(hdfs.createReadStream(name, options), chunks);
  return Buffer.concat(chunks);
}

async function main() {
  await ask('mkdir')(`${root}/d`);
  await ask('writeFile')(`${root}/d/big`, data);
  assert(data.equals(await ask('readFile')(`${root}/d/big`)));
  assert(data.subarray(1234567, 1234567 + 89000).equals(await read(`${root}/d/big`, { offset: 1234567, length: 89000 })));
  await ask('appendFile')(`${root}/d/big`, 'and more');
  const stat = await ask('stat')(`${root}/d/big`);
  assert.strictEqual(stat.length, data.length + 8);
  assert.strictEqual(stat.type, 'FILE');

  // By streams, with progress.
  const source = new PassThrough();
  const upload = hdfs.createWriteStream(`${root}/d/streamed`);
  source.pipe(upload);
  let sent = 0;
  for (let at = 0; at < data.length; at += 100000) {
    const piece = data.subarray(at, at + 100000);
    sent += piece.length;
    source.write(piece);
  }
  source.end();
  await finished(upload);
  assert.strictEqual(sent, data.length);
  let seen = 0;
  const download = hdfs.createReadStream(`${root}/d/streamed`);
  download.on('data', (chunk) => { seen += chunk.length; });
  await finished(download);
  assert.strictEqual(seen, data.length);

  await ask('writeFile')(`${root}/d/text`, 'é\n');
  await ask('writeFile')(`${root}/d/text`, 'once more é\n');
  assert.strictEqual(String(await ask('readFile')(`${root}/d/text`)), 'once more é\n');
  const names = (await ask('readdir')(`${root}/d`)).map((entry) => entry.pathSuffix);
  assert.deepStrictEqual(names.sort(), ['big', 'streamed', 'text']);
  assert.deepStrictEqual((await ask('readdir')(`${root}`)).map((entry) => entry.type), ['DIRECTORY']);

  await ask('chmod')(`${root}/d/text`, '0640');
  await ask('chown')(`${root}/d/text`, 'alice', 'staff');
  const changed = await ask('stat')(`${root}/d/text`);
  assert.deepStrictEqual([changed.permission, changed.owner, changed.group], ['640', 'alice', 'staff']);
  await ask('rename')(`${root}/d/text`, `${root}/moved`);
  const exists = (name) => new Promise((resolve) => hdfs.exists(name, resolve));
  assert.deepStrictEqual([await exists(`${root}/moved`), await exists(`${root}/d/text`)], [true, false]);

  await assert.rejects(ask('stat')(`${root}/none`), /does not exist/i);
  await assert.rejects(ask('readFile')(`${root}/none`), /not exist|not found/i);
  await assert.rejects(ask('rmdir')(`${root}/d`), /non empty|not empty/i);
  await ask('unlink')(`${root}/moved`);
  await ask('unlink')(root, true);
  assert.strictEqual(await exists(root), false);
  console.log('done');
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
