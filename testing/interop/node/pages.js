// The web pages in a real browser: every page and every button, light and dark, narrow, without JavaScript, and accessible.
//
// node pages.js NODE_MODULES PICTURES JSON: JSON has the addresses of the daemons (`namenode`, `datanodes`, `journalnode`, `gateway`),
// the name of a directory with 10,000 files (`large`), the DataNodes that are not in service by their state (`dead`, `leaving`, `away`),
// the id of a process that reads locally (`reader`), a DataNode and a disk that are slow (`slow`, `slowDisk`; `reporter` says
// so), and a NameNode that loads (`starting`) until the JournalNode of the process id `stopped` runs again. The first two DataNodes are
// the pipeline of an open file. Pictures of the pages go to the directory PICTURES.
"use strict";
const [modules, pictures, json] = process.argv.slice(2);
const { chromium } = require(`${modules}/playwright-core`);
const axe = require("fs").readFileSync(`${modules}/axe-core/axe.min.js`, "utf8");
const fs = require("fs");
const assert = require("assert");
const at = JSON.parse(json);

const LIMIT = 30000;
// Without a quotation mark, which browsers write as %22 in a form.
const EVIL = "<img src=x onerror=alert(1)>'&amp;#?%2F.txt";
const user = "user.name=" + encodeURIComponent(at.user);

const pages = {
  "namenode-overview": `${at.namenode}/`,
  "namenode-datanodes": `${at.namenode}/datanodes`,
  "namenode-files": `${at.namenode}/explorer?path=/&${user}`,
  "namenode-start-up": `${at.namenode}/startup`,
  "namenode-edit-log": `${at.namenode}/journal`,
  "namenode-calls": `${at.namenode}/calls`,
  "namenode-slow-nodes": `${at.namenode}/slow-nodes`,
  "namenode-configuration": `${at.namenode}/configuration?set=1`,
  "namenode-log": `${at.namenode}/logs`,
  "namenode-log-level": `${at.namenode}/logLevel`,
  "datanode-overview": `${at.datanodes[0]}/`,
  "datanode-transfers": `${at.datanodes[0]}/pipelines`,
  "datanode-local-readers": `${at.datanodes[0]}/local-readers`,
  "datanode-scanners": `${at.datanodes[0]}/scanners`,
  "datanode-configuration": `${at.datanodes[0]}/configuration`,
  "datanode-log": `${at.datanodes[0]}/logs`,
  "datanode-log-level": `${at.datanodes[0]}/logLevel`,
  "journalnode": `${at.journalnode}/`,
  "journalnode-configuration": `${at.journalnode}/configuration`,
  "journalnode-log": `${at.journalnode}/logs`,
  "journalnode-log-level": `${at.journalnode}/logLevel`,
  "gateway-overview": `${at.gateway}/`,
  "gateway-files": `${at.gateway}/explorer?path=/&${user}`,
  "gateway-configuration": `${at.gateway}/configuration`,
  "gateway-log": `${at.gateway}/logs`,
  "gateway-log-level": `${at.gateway}/logLevel`,
};

const problems = [];
const watch = (page) => {
  page.setDefaultTimeout(LIMIT);
  page.on("dialog", (dialog) => { problems.push(`a dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("pageerror", (error) => problems.push(`${page.url()}: ${error}`));
  page.on("console", (message) => {
    // The answer of a refusal is a message of the browser's, too; a violated policy is none of those.
    if (message.type() === "error" && !/status of 4\d\d/.test(message.text())) problems.push(`${page.url()}: ${message.text()}`);
  });
};

const accessible = async (page, name) => {
  // By the debugger's door: the pages' policy lets no other script in.
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run());
  for (const violation of found.violations) {
    problems.push(`${name}: ${violation.id}: ${violation.help}: ${violation.nodes.map((node) => node.html).slice(0, 3).join(" | ")}`);
  }
};

const isWide = (page) => page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth + 1);

const visit = async (page, name) => {
  const answer = await page.goto(pages[name], { waitUntil: "load" });
  assert.strictEqual(answer.status(), 200, name);
  assert.ok((answer.headers()["content-security-policy"] || "").includes("default-src 'none'"), `${name} has no policy`);
  assert.strictEqual(await page.locator("h1").count(), 1, name);
};

// Whether a page is accessible depends on the colours and on what is folded away: one scheme in each width is enough.
const looks = async (browser, scheme, size, isChecked) => {
  const context = await browser.newContext({ colorScheme: scheme, viewport: size });
  const page = await context.newPage();
  watch(page);
  for (const name of Object.keys(pages)) {
    await visit(page, name);
    if (isChecked(name)) await accessible(page, `${name} (${scheme}, ${size.width})`);
    if (await isWide(page)) problems.push(`${name} is wider than ${size.width}`);
    await page.screenshot({ path: `${pictures}/${name}-${scheme}-${size.width}.png` });
  }
  await context.close();
};

// Fills and posts a form of the browser's page; the page that comes next says what was done.
const form = async (page, button, fill, expected) => {
  // By its text: a role is that of something that is seen, and the form may be folded away.
  const one = page.locator(`form:has(button:text-is("${button}"))`);
  const details = page.locator("details").filter({ has: one });
  if (await details.count() > 0 && !(await details.evaluate((found) => found.open))) await details.locator("summary").click();
  await fill(one);
  await Promise.all([page.waitForEvent("load"), one.locator("button").click()]);
  const text = await page.locator(".notice").first().innerText();
  assert.ok(text.includes(expected), `${button}: ${text}`);
};

// What people do in the file browser; without JavaScript too.
const explorer = async (context, base, directory, hasScript) => {
  const page = await context.newPage();
  watch(page);
  await page.goto(`${base}/explorer?path=/&${user}`);
  await form(page, "Make directory", (one) => one.getByLabel("Name").fill(directory), "was made");
  assert.ok(page.url().includes(directory));
  const evil = { name: EVIL, mimeType: "text/html", buffer: Buffer.from("<script>alert(2)</script>\n".repeat(2000) + "the end") };
  // A name with a slash is cut there, as a path of the user's machine would be.
  const plain = { name: "plain.txt", mimeType: "text/plain", buffer: Buffer.from("hello") };
  await form(page, "Upload", (one) => one.getByLabel("Files", { exact: true }).setInputFiles([evil, plain]), "uploaded");
  await form(page, "Upload", (one) => one.getByLabel("Files", { exact: true }).setInputFiles([plain]), "already exists");
  // A file of the same name is replaced by whoever says so.
  await page.goto(`${base}/explorer?path=/${directory}&${user}`);
  const other = { name: "plain.txt", mimeType: "text/plain", buffer: Buffer.from("replaced") };
  await form(page, "Upload", async (one) => {
    await one.getByLabel("Replace files of the same name").check();
    await one.getByLabel("Files", { exact: true }).setInputFiles([other]);
  }, "uploaded");
  await page.getByRole("link", { name: "plain.txt", exact: true }).click();
  await page.getByRole("link", { name: "Head", exact: true }).click();
  assert.strictEqual((await page.locator("#preview pre").innerText()).trim(), "replaced");
  await page.getByRole("link", { name: "Blocks", exact: true }).click();
  await page.waitForURL((address) => address.hash === "#blocks");
  // The way up, and the way to any path.
  await page.getByRole("navigation", { name: "Path" }).getByRole("link", { name: directory, exact: true }).click();
  await page.locator("h1", { hasText: `/${directory}` }).waitFor();
  await page.getByRole("navigation", { name: "Path" }).getByRole("link", { name: "root", exact: true }).click();
  await page.locator("h1", { hasText: /^\/$/ }).waitFor();
  const path = page.locator("#go-path");
  const who = page.getByLabel("As user", { exact: true });
  await path.fill(`/${directory}/`);
  await who.fill(at.user);
  await page.getByRole("button", { name: "Go", exact: true }).click();
  await page.locator("h1", { hasText: `/${directory}` }).waitFor();
  // Somebody who may not see it, and then is somebody else.
  await form(page, "Change permission", (one) => one.getByLabel("Octal digits").fill("700"), "permission was changed");
  await who.fill("mallory");
  await page.getByRole("button", { name: "Go", exact: true }).click();
  await page.locator("h1", { hasText: "Refused" }).waitFor();
  assert.ok((await page.locator(".notice").innerText()).includes("mallory"));
  await page.getByLabel("Try again as user").fill(at.user);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.locator("h1", { hasText: `/${directory}` }).waitFor();
  await page.goto(`${base}/explorer?path=/${directory}&${user}`);
  const names = await page.locator("tbody td:first-child").allInnerTexts();
  assert.deepStrictEqual(names.sort(), [EVIL, "plain.txt"].sort());
  await page.getByRole("link", { name: EVIL, exact: true }).click();
  assert.strictEqual(await page.locator("h1").innerText(), `/${directory}/${EVIL}`);
  for (const [link, expected] of [["Head", "<script>alert(2)</script>"], ["Tail", "the end"]]) {
    await page.getByRole("link", { name: link, exact: true }).click();
    assert.ok((await page.locator("#preview pre").innerText()).includes(expected), link);
  }
  assert.ok((await page.locator("#blocks tbody").innerText()).includes("blk_"));
  if (hasScript) await accessible(page, "a file");
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Download" }).click()]);
  assert.ok(fs.readFileSync(await download.path(), "utf8").endsWith("the end"));
  await form(page, "Change permission", (one) => one.getByLabel("Octal digits").fill("640"), "permission was changed");
  assert.ok((await page.locator("#facts").innerText()).includes("-rw-r-----"));
  await form(page, "Change replication", (one) => one.getByLabel("Replicas").fill("2"), "replication was changed");
  await form(page, "Change owner", (one) => one.getByLabel("Group").fill("staff"), "Owner and group");
  assert.ok((await page.locator("#facts").innerText()).includes("staff"));
  await form(page, "Rename", (one) => one.getByLabel("New name").fill("renamed <b>"), "was renamed");
  await form(page, "Delete", (one) => one.getByRole("checkbox").check(), "was deleted");
  await form(page, "Delete", (one) => one.getByRole("checkbox").check(), "was deleted");
  assert.strictEqual(new URL(page.url()).searchParams.get("path"), "/");
  const missing = await page.goto(`${base}/explorer?path=/${encodeURIComponent(EVIL)}&${user}`);
  assert.strictEqual(missing.status(), 404);
  if (hasScript) await accessible(page, "a refusal");
  await page.close();
};

const large = async (context) => {
  const page = await context.newPage();
  watch(page);
  let address = `${at.namenode}/explorer?path=${at.large}&${user}`;
  await page.goto(address);
  const all = new Set();
  for (let turns = 0; turns < 60; turns += 1) {
    const names = await page.evaluate(() => [...document.querySelectorAll("tbody td:first-child")].map((cell) => cell.textContent));
    names.forEach((name) => all.add(name));
    const next = page.getByRole("link", { name: "Next" });
    if (await next.count() === 0) break;
    await next.click();
    await page.waitForLoadState("load");
  }
  assert.strictEqual(all.size, 10000);
  await page.getByRole("link", { name: "First" }).click();
  assert.ok((await page.locator(".paging").innerText()).includes("of 10,000"));
  await page.close();
};

// Sections are fetched again by themselves, until somebody says stop.
const live = async (context) => {
  const page = await context.newPage();
  watch(page);
  await page.goto(`${at.namenode}/startup`);
  const refreshed = (more) => page.waitForFunction((than) => Number(document.body.dataset.refreshed || 0) > than, more);
  await refreshed(0);
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByRole("button", { name: "Resume" }).click();
  await refreshed(1);
  // A file that is made meanwhile shows up.
  await page.goto(`${at.namenode}/`);
  const tile = page.locator(".tiles div").filter({ hasText: "Files and directories" }).locator("dd");
  const before = await tile.innerText();
  const made = await page.request.put(`${at.namenode}/webhdfs/v1/made-meanwhile?op=MKDIRS&${user}`);
  assert.ok(made.ok());
  await page.waitForFunction((was) => [...document.querySelectorAll(".tiles div")].some(
    (one) => one.innerText.includes("Files and directories") && !one.innerText.includes(was)), before.split("\n")[0]);
  await page.close();
};

// The pages of a NameNode that waits for its JournalNode; then, without a hand, those of one that has loaded.
const starting = async (context) => {
  const page = await context.newPage();
  watch(page);
  const open = await context.newPage();
  watch(open);
  await page.goto(`${at.starting}/startup`);
  await open.goto(`${at.starting}/`);
  for (const one of [page, open]) {
    assert.strictEqual(await one.locator("h1").innerText(), "Start-up and safe mode");
    assert.ok((await one.locator(".notice").innerText()).includes("loading its namespace"));
    assert.strictEqual(await one.locator(".who .state").innerText(), "starting");
  }
  const phases = await page.locator("#phases tbody tr").allInnerTexts();
  assert.strictEqual(phases.length, 3, phases);
  assert.ok(/Applying the edit log\s+Running/.test(phases[1]), phases);
  assert.strictEqual((await page.request.get(`${at.starting}/health`)).status(), 503);
  await accessible(page, "a start");
  await page.screenshot({ path: `${pictures}/namenode-starting.png` });
  process.kill(-at.stopped, "SIGCONT");
  await page.locator("#safemode").waitFor();
  assert.ok(/Applying the edit log\s+Done/.test(await page.locator("#phases tbody tr").nth(1).innerText()));
  assert.strictEqual(await page.locator(".who .state").innerText(), "standby");
  await open.locator("h1", { hasText: "Overview" }).waitFor();
  await page.close();
  await open.close();
};

const slow = async (context) => {
  const page = await context.newPage();
  watch(page);
  await page.goto(`${at.namenode}/slow-nodes`);
  const cells = await page.locator("#peers tbody tr").filter({ hasText: "345.50 ms" }).locator("td").allInnerTexts();
  assert.deepStrictEqual(cells, [at.slow, at.reporter, "345.50 ms", "2.25 ms", "6.75 ms"]);
  const disk = await page.locator("#disks tbody tr").filter({ hasText: "123.25 ms" }).locator("td").first().innerText();
  assert.ok(disk.includes(at.slowDisk), disk);
  await page.close();
};

const others = async (context) => {
  const page = await context.newPage();
  watch(page);
  // Apache's addresses.
  for (const [old, title] of [
    [`${at.namenode}/dfshealth.html`, "Overview"], [`${at.namenode}/explorer.html#/`, "/"], [`${at.namenode}/index.html`, "Overview"],
    [`${at.datanodes[0]}/datanode.html`, "Overview"], [`${at.journalnode}/journalnode.html`, "Journals"],
    [`${at.gateway}/index.html`, "Overview"],
  ]) {
    await page.goto(old);
    await page.locator("h1", { hasText: title }).waitFor();
  }
  // The keyboard: the first stop leads past the navigation.
  await page.goto(`${at.namenode}/`);
  await page.keyboard.press("Tab");
  assert.strictEqual(await page.evaluate(() => document.activeElement.className), "skip");
  await page.keyboard.press("Enter");
  assert.strictEqual(await page.evaluate(() => document.activeElement.id), "main");
  // Filters, pages and links.
  await page.goto(`${at.namenode}/configuration`);
  await page.getByLabel("Key or value contains").fill("dfs.replication");
  await page.getByRole("button", { name: "Show" }).click();
  assert.ok((await page.locator("#keys tbody").innerText()).includes("hdfs-site.xml"));
  // Without defaults there are fewer keys; with them there are several pages.
  await page.goto(`${at.namenode}/configuration`);
  const shown = page.locator("#keys .paging span");
  const first = await shown.innerText();
  await page.getByRole("link", { name: "Next", exact: true }).click();
  await page.waitForFunction((was) => document.querySelector("#keys .paging span").innerText !== was, first);
  await page.getByRole("link", { name: "Previous", exact: true }).click();
  await page.waitForFunction((was) => document.querySelector("#keys .paging span").innerText === was, first);
  await page.getByLabel("Without defaults").check();
  await page.getByRole("button", { name: "Show" }).click();
  await page.waitForFunction(() => !document.querySelector("#keys .paging") && document.querySelector("#keys tbody"));
  const origins = await page.locator("#keys tbody").innerText();
  assert.ok(origins.includes("hdfs-site.xml") && !origins.includes("default.xml"), origins);
  // Levels: shown, changed, and refused.
  await page.goto(`${at.namenode}/logs`);
  await page.getByRole("link", { name: "Change levels" }).click();
  await page.getByLabel("Logger").fill("zerohop_namenode");
  await page.getByLabel("Level").selectOption("DEBUG");
  await page.getByRole("button", { name: "Set level" }).click();
  assert.ok((await page.locator("#change").innerText()).includes("Effective Level: DEBUG"));
  await page.getByRole("link", { name: "Log", exact: true }).last().click();
  const search = async (level, text) => {
    await page.getByLabel("At least").selectOption(level);
    await page.getByLabel("Contains").fill(text);
    await page.getByLabel("Lines").fill("5");
    await page.getByRole("button", { name: "Show" }).click();
    await page.waitForURL((address) => address.searchParams.get("level") === level && address.searchParams.get("q") === text);
    return await page.locator("#lines pre").innerText();
  };
  const changed = /cmd=setLogLevel\s+src=zerohop_namenode\s+dst=DEBUG/;
  assert.match(await search("WARN", "cmd=setLogLevel"), changed);
  assert.doesNotMatch(await search("ERROR", "cmd=setLogLevel"), changed);
  assert.ok((await search("INFO", "")).split("\n").length <= 5);
  // Every link of the navigation leads somewhere.
  for (const base of [at.namenode, at.datanodes[0], at.journalnode, at.gateway]) {
    await page.goto(`${base}/`);
    const links = await page.locator("header nav a, footer a").evaluateAll((all) => all.map((one) => one.href));
    assert.ok(links.length >= 5, `${base}: ${links}`);
    // The gateway, which serves nobody without a name, knows this browser by the cookie of the steps before.
    for (const link of links) assert.strictEqual((await page.request.get(link)).status(), 200, link);
  }
  // Another site's page cannot change anything.
  const evil = await context.newPage();
  await evil.goto("data:text/html,<title>evil</title>");
  const target = `${at.namenode}/explorer?path=/&${user}`;
  const answers = evil.waitForResponse((answer) => answer.url() === target);
  await evil.setContent(`<form method=post action="${target}"><input name=do value=mkdir><input name=name value=planted><button>x</button></form>`);
  await evil.getByRole("button").click();
  assert.strictEqual((await answers).status(), 403);
  await evil.close();
  await page.goto(target);
  assert.ok(!(await page.locator("tbody").innerText()).includes("planted"));
  // Huge values are answered, and shown as text.
  const huge = "<b>" + "x".repeat(20000);
  for (const address of [`/explorer?path=/${huge}&${user}`, `/configuration?q=${huge}`, `/datanodes?q=${huge}&page=99999999999999999999`, `/logs?q=${huge}&lines=-1`, `/logLevel?log=${huge}&level=INFO`]) {
    const answer = await page.goto(at.namenode + address);
    assert.ok([200, 400, 403, 404].includes(answer.status()), `${address.slice(0, 40)}: ${answer.status()}`);
    assert.strictEqual(await page.locator("main b").filter({ hasText: "xxx" }).count(), address.startsWith("/logLevel") ? 1 : 0);
  }
  await page.close();
};

// DataNodes in every state, by the filters.
const states = async (context) => {
  const page = await context.newPage();
  watch(page);
  await page.goto(`${at.namenode}/datanodes`);
  const { dead, leaving, away } = at;
  const serving = at.all.filter((name) => ![dead, leaving, away].includes(name));
  for (const [label, value, expected] of [
    ["All", "all", at.all], ["Live", "live", [...serving, leaving, away]], ["Dead", "dead", [dead]], ["Decommissioning", "decommissioning", [leaving]],
    ["Decommissioned", "decommissioned", [dead]], ["Maintenance", "maintenance", [away]], ["With failed volumes", "failed", [leaving]],
  ]) {
    await page.getByRole("link", { name: label, exact: true }).click();
    await page.waitForURL((address) => address.searchParams.get("state") === value);
    assert.strictEqual(await page.locator("#filter [aria-current]").innerText(), label);
    // A DataNode is dead some seconds after its last heartbeat.
    await page.waitForFunction((wanted) => {
      const names = [...document.querySelectorAll("#nodes tbody td:first-child")].map((cell) => cell.innerText.trim());
      return JSON.stringify(names.sort()) === wanted;
    }, JSON.stringify([...expected].sort())).catch(async (error) => {
      throw new Error(`${label}, not ${expected}: ${await page.locator("#nodes").innerText()}: ${error}`);
    });
  }
  assert.ok((await page.locator("#volumes tbody").innerText()).includes("Failed"));
  const tiles = await page.evaluate(() => Object.fromEntries([...document.querySelectorAll("#figures .tiles div")].map(
    (tile) => [tile.querySelector("dt").textContent, tile.querySelector("dd").firstChild.textContent])));
  for (const label of ["Dead", "Decommissioning", "Decommissioned", "Maintenance", "Failed volumes"]) assert.strictEqual(tiles[label], "1", label);
  await page.goto(`${at.namenode}/`);
  const notices = await page.locator("#notices").innerText();
  assert.ok(notices.includes("do not send heartbeats") && notices.includes("have failed"), notices);
  await page.locator("#notices p").filter({ hasText: "heartbeats" }).getByRole("link").click();
  await page.waitForURL((address) => address.searchParams.get("state") === "dead");
  await page.goto(`${at.namenode}/datanodes?state=live`);
  await page.locator("#nodes tbody a").first().click();
  await page.locator(".who", { hasText: "DataNode" }).waitFor();
  await page.close();
};

// What is going on at a DataNode: the pipeline of an open file, and a process that reads without it.
const transfers = async (context) => {
  const page = await context.newPage();
  watch(page);
  const downstream = [];
  let readers = 0;
  for (const base of at.datanodes) {
    await page.goto(`${base}/pipelines`);
    const row = page.locator("#pipelines tbody tr").filter({ hasText: "WRITE_BLOCK" }).first();
    await row.waitFor();
    const cells = await row.locator("td").allInnerTexts();
    assert.ok(cells[1].includes("blk_"), cells);
    downstream.push(cells[4]);
    await page.goto(`${base}/local-readers`);
    const process = page.locator("#processes tbody tr").filter({ hasText: String(at.reader) });
    if (await process.count() === 0) continue;
    readers += 1;
    // Process, user, client, descriptors: two for each replica.
    const [pid, who, , descriptors] = await process.first().locator("td").allInnerTexts();
    assert.strictEqual(Number(pid), at.reader);
    assert.ok(new RegExp(`^${at.user} \\(\\d+\\)$`).test(who), who);
    assert.ok(Number(descriptors) >= 2, descriptors);
    assert.ok((await page.locator("#replicas tbody").innerText()).includes("blk_"));
    pages["datanode-local-readers"] = `${base}/local-readers`;
  }
  assert.strictEqual(downstream.filter((one) => one === "none").length, 1, `the last of the pipeline has none below it: ${downstream}`);
  assert.ok(readers > 0, "no DataNode has the reader");
  await page.close();
};

// Calls show while they run, and the directories that they are about lead to the file browser.
const calls = async (context) => {
  const page = await context.newPage();
  watch(page);
  let isEnough = false;
  const busy = [...Array(8).keys()].map(async (number) => {
    // Through the gateway, whose client asks by RPC; each waits for the edit log.
    const target = `${at.gateway}/webhdfs/v1/busy-${number}?op=MKDIRS&${user}`;
    const change = `${at.gateway}/webhdfs/v1/busy-${number}?op=SETPERMISSION&${user}&permission=`;
    assert.ok((await fetch(target, { method: "PUT" })).ok);
    for (let turn = 0; !isEnough; turn += 1) assert.ok((await fetch(change + (turn % 2 === 0 ? "775" : "755"), { method: "PUT" })).ok);
  });
  const seen = async () => {
    for (;;) {
      await page.goto(`${at.namenode}/calls`);
      const running = page.locator("#running tbody tr").filter({ hasText: "setPermission" });
      if (await running.count() > 0) return (await running.first().locator("td").allInnerTexts());
    }
  };
  const timeout = new Promise((_, reject) => setTimeout(() => reject(new Error("no call was seen while it ran")), LIMIT).unref());
  const cells = await Promise.race([seen(), timeout, Promise.all(busy).then(() => { throw new Error("the callers ended"); })]);
  assert.strictEqual(cells[1], at.user);
  await page.screenshot({ path: `${pictures}/namenode-calls-running.png` });
  isEnough = true;
  await Promise.all(busy);
  await page.locator("#users tbody tr").filter({ hasText: at.user }).first().waitFor();
  const hot = page.locator("#directories tbody a").first();
  const name = await hot.innerText();
  await hot.click();
  await page.locator("h1", { hasText: /^(\/|Refused)/ }).waitFor();
  assert.strictEqual(new URL(page.url()).searchParams.get("path"), name);
  await page.close();
};

// The buttons of the overviews. A recording takes ten seconds; those of all daemons run beside the other steps.
const recordings = (context) => Promise.all([at.namenode, at.datanodes[0], at.journalnode, at.gateway].map(async (base) => {
  const page = await context.newPage();
  // Names are looked up after the recording, which takes long in a debug build on a busy machine.
  page.setDefaultTimeout(6 * LIMIT);
  page.on("pageerror", (error) => problems.push(`${page.url()}: ${error}`));
  const said = [];
  page.on("dialog", (dialog) => { said.push(dialog.type()); dialog.accept("tokio|zerohop"); });
  await page.goto(`${base}/`);
  await page.getByRole("link", { name: /^CPU profile/ }).click({ noWaitAfter: true });
  // A process that does nothing has no picture.
  let isRecorded = false;
  const asking = (async () => { while (!isRecorded) { await fetch(`${base}/jmx`); await new Promise((next) => setTimeout(next, 20)); } })();
  await page.waitForURL((address) => address.pathname === "/profile").finally(() => { isRecorded = true; });
  await asking;
  await page.locator("#frames g").first().waitFor({ state: "attached" });
  await page.locator("#frames g").nth(1).hover({ force: true });
  await page.waitForFunction(() => /samples/.test(document.getElementById("details").textContent));
  const isZoomed = () => !document.getElementById("unzoom").classList.contains("hide");
  await page.locator("#frames g").nth(1).click({ force: true });
  await page.waitForFunction(isZoomed);
  await page.locator("#unzoom").click({ force: true });
  await page.waitForFunction(() => document.getElementById("unzoom").classList.contains("hide"));
  await page.locator("#search").click({ force: true });
  await page.waitForFunction(() => /Matched: [0-9.]+%/.test(document.getElementById("matched").textContent));
  assert.deepStrictEqual(said, ["prompt"]);
  await page.close();
}));

const buttons = async (context) => {
  const page = await context.newPage();
  watch(page);
  await page.goto(`${at.namenode}/`);
  await page.getByRole("link", { name: "Check all files" }).click();
  await page.waitForURL((address) => address.pathname === "/fsck");
  assert.ok(/Status: (HEALTHY|CORRUPT)/.test(await page.locator("body").innerText()));
  await page.goto(`${at.namenode}/`);
  await page.getByRole("link", { name: "Browse files" }).click();
  await page.waitForURL((address) => address.pathname === "/explorer");
  await page.goto(`${at.namenode}/`);
  // DataNodes of other processes have maps of their own.
  await page.getByRole("link", { name: "I/O heat map" }).click();
  await page.locator("#maps tbody tr").first().waitFor();
  const ofFirst = page.locator("#maps tbody tr").filter({ hasText: at.all[0] });
  await ofFirst.getByRole("link", { name: "Slow volumes" }).click();
  assert.ok("failedDirectories" in JSON.parse(await page.locator("pre").innerText()));
  await page.goBack();
  await ofFirst.getByRole("link", { name: "Heat map" }).click();
  const cells = page.locator("rect[c]");
  await cells.first().waitFor({ state: "attached" });
  await cells.first().hover({ force: true });
  const [title, line] = await cells.first().evaluate((cell) => [cell.querySelector("title").textContent, cell.parentNode.querySelector(".l").textContent]);
  assert.ok(/^\d+ calls of /.test(title), title);
  assert.strictEqual(line, title);
  await page.goto(`${at.datanodes[0]}/`);
  await page.getByRole("link", { name: "I/O heat map" }).click();
  await cells.first().waitFor({ state: "attached" });
  await page.goBack();
  await page.getByRole("link", { name: "Slow volumes" }).click();
  assert.ok("slowVolumes" in JSON.parse(await page.locator("pre").innerText()));
  // The gateway counts what was done through it, and by whom.
  await page.goto(`${at.gateway}/`);
  assert.ok((await page.locator("#users tbody").innerText()).includes(at.user));
  const made = await page.locator("#operations tbody tr").filter({ hasText: "Directories made" }).locator("td").last().innerText();
  assert.ok(Number(made) > 0, made);
  await page.getByRole("link", { name: "Browse files" }).click();
  await page.waitForURL((address) => address.pathname === "/explorer");
  await page.close();
};

// The file browser without a mouse: everything is reached by Tab, in the order in which it is read, and Enter does it.
const keyboard = async (context) => {
  const page = await context.newPage();
  watch(page);
  await page.goto(`${at.namenode}/explorer?path=/&${user}`);
  const order = [];
  for (let turn = 0; turn < 200; turn += 1) {
    await page.keyboard.press("Tab");
    const place = await page.evaluate(() => {
      const all = [...document.querySelectorAll("a, button, input:not([type=hidden]), select, summary, [tabindex='0']")];
      const one = document.activeElement;
      const box = one.getBoundingClientRect();
      const style = getComputedStyle(one);
      return { at: all.indexOf(one), id: one.id, isSeen: box.width > 0 && (style.outlineStyle !== "none" || style.boxShadow !== "none") };
    });
    if (place.at < 0) break;
    order.push(place);
    if (place.id === "mkdir-name") break;
  }
  const places = order.map((place) => place.at);
  assert.deepStrictEqual(places, [...places].sort((a, b) => a - b), "the order of Tab is not that of the page");
  assert.ok(order.every((place) => place.isSeen), `the focus is not seen: ${JSON.stringify(order.filter((place) => !place.isSeen))}`);
  for (const id of ["go-path", "go-user", "files", "mkdir-name"]) assert.ok(order.some((place) => place.id === id), `${id} is not reached`);
  await page.keyboard.type("by-keyboard");
  await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
  assert.ok((await page.locator(".notice").innerText()).includes("was made"));
  await page.close();
};

(async () => {
  fs.mkdirSync(pictures, { recursive: true });
  const args = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"];
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args, timeout: 60000 });
  try {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    const step = async (name, work) => { const begun = Date.now(); await work(); console.log(`${name}: ${Date.now() - begun} ms`); };
    await step("starting", () => starting(context));
    let failed = null;
    const recorded = recordings(context).catch((error) => { failed = error; });
    await step("file browser of the NameNode", () => explorer(context, at.namenode, "by-namenode", true));
    await step("file browser of the gateway", () => explorer(context, at.gateway, "by-gateway", true));
    const plain = await browser.newContext({ javaScriptEnabled: false });
    await step("without JavaScript", () => explorer(plain, at.namenode, "without-script", false));
    await step("10,000 files", () => large(context));
    await step("live", () => live(context));
    await step("others", () => others(context));
    await step("states", () => states(context));
    await step("transfers", () => transfers(context));
    await step("calls", () => calls(context));
    await step("slow", () => slow(context));
    await step("buttons", () => buttons(context));
    await step("keyboard", () => keyboard(context));
    await step("recordings", () => recorded);
    if (failed) throw failed;
    await step("light", () => looks(browser, "light", { width: 1200, height: 900 }, () => true));
    // These are the same for all daemons.
    const isShared = (name) => /^(datanode|journalnode|gateway)-(configuration|log|log-level|files)$/.test(name);
    await step("dark, narrow", () => looks(browser, "dark", { width: 380, height: 800 }, (name) => !isShared(name)));
    await step("light, narrow", () => looks(browser, "light", { width: 380, height: 800 }, () => false));
    assert.deepStrictEqual(problems, []);
    console.log("done");
  } finally {
    await browser.close();
  }
})().catch((error) => { console.error(error); problems.forEach((one) => console.error(one)); process.exitCode = 1; });
