// The web pages in a real browser: every page and every button, light and dark, narrow, without JavaScript, and accessible.
//
// node pages.js NODE_MODULES PICTURES JSON: JSON has the addresses of the daemons (`namenode`, `datanode`, `journalnode`,
// `gateway`) and the name of a directory with 10,000 files (`large`). Pictures of the pages go to the directory PICTURES.
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
  "datanode-overview": `${at.datanode}/`,
  "datanode-transfers": `${at.datanode}/pipelines`,
  "datanode-local-readers": `${at.datanode}/local-readers`,
  "datanode-scanners": `${at.datanode}/scanners`,
  "datanode-configuration": `${at.datanode}/configuration`,
  "datanode-log": `${at.datanode}/logs`,
  "journalnode": `${at.journalnode}/`,
  "journalnode-configuration": `${at.journalnode}/configuration`,
  "gateway-files": `${at.gateway}/explorer?path=/&${user}`,
  "gateway-log": `${at.gateway}/logs`,
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

const looks = async (browser, scheme, size, kept) => {
  const context = await browser.newContext({ colorScheme: scheme, viewport: size });
  const page = await context.newPage();
  watch(page);
  for (const name of Object.keys(pages)) {
    await visit(page, name);
    await accessible(page, `${name} (${scheme}, ${size.width})`);
    if (await isWide(page)) problems.push(`${name} is wider than ${size.width}`);
    if (kept(name)) await page.screenshot({ path: `${pictures}/${name}-${scheme}-${size.width}.png` });
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

const others = async (context) => {
  const page = await context.newPage();
  watch(page);
  // Apache's addresses.
  for (const [old, title] of [
    [`${at.namenode}/dfshealth.html`, "Overview"], [`${at.namenode}/explorer.html#/`, "/"], [`${at.namenode}/index.html`, "Overview"],
    [`${at.datanode}/datanode.html`, "Overview"], [`${at.journalnode}/journalnode.html`, "Journals"], [`${at.gateway}/`, /^(\/|Refused)$/],
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
  await page.goto(`${at.namenode}/datanodes`);
  for (const state of ["Dead", "Live"]) {
    await page.getByRole("link", { name: state, exact: true }).click();
    await page.locator(state === "Dead" ? "#nodes .empty" : "#nodes tbody").waitFor();
  }
  await page.locator("#nodes tbody a").first().click();
  await page.locator(".who", { hasText: "DataNode" }).waitFor();
  // Levels: shown, changed, and refused.
  await page.goto(`${at.namenode}/logs`);
  await page.getByRole("link", { name: "Change levels" }).click();
  await page.getByLabel("Logger").fill("zerohop_namenode");
  await page.getByLabel("Level").selectOption("DEBUG");
  await page.getByRole("button", { name: "Set level" }).click();
  assert.ok((await page.locator("#change").innerText()).includes("Effective Level: DEBUG"));
  await page.goto(`${at.namenode}/logs?level=WARN`);
  assert.ok((await page.locator("#lines").innerText()).includes("the log level of zerohop_namenode is DEBUG now"));
  // Every link of the navigation leads somewhere.
  for (const base of [at.namenode, at.datanode, at.journalnode]) {
    await page.goto(`${base}/`);
    const links = await page.locator("header nav a").evaluateAll((all) => all.map((one) => one.href));
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

(async () => {
  fs.mkdirSync(pictures, { recursive: true });
  const args = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"];
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args, timeout: 60000 });
  try {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    const step = async (name, work) => { const begun = Date.now(); await work(); console.log(`${name}: ${Date.now() - begun} ms`); };
    await step("file browser of the NameNode", () => explorer(context, at.namenode, "by-namenode", true));
    await step("file browser of the gateway", () => explorer(context, at.gateway, "by-gateway", true));
    const plain = await browser.newContext({ javaScriptEnabled: false });
    await step("without JavaScript", () => explorer(plain, at.namenode, "without-script", false));
    await step("10,000 files", () => large(context));
    await step("live", () => live(context));
    await step("others", () => others(context));
    await step("light", () => looks(browser, "light", { width: 1280, height: 900 }, () => true));
    await step("dark, narrow", () => looks(browser, "dark", { width: 380, height: 800 }, () => true));
    assert.deepStrictEqual(problems, []);
    console.log("done");
  } finally {
    await browser.close();
  }
})().catch((error) => { console.error(error); problems.forEach((one) => console.error(one)); process.exitCode = 1; });
