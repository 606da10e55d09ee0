// Writes docs/clients.md and the clients that the console offers, from the list of tested clients and the results of their
// tests. With `--check` it only compares. It refuses results of versions that are not pinned any more.
// Usage: node tools/clients.mjs --record REPORT…, with reports of `vitest run … --reporter=json --outputFile=REPORT`
// Two clients have tests in the fast suite: see CONTRIBUTING.md.
import { readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { onSources, writeOrCheck } from "./generated-file.mjs";

onSources(import.meta.url);
const { doors } = await import("../apps/e2e/src/clients/doors.ts");
const { findStale, recordResults, versionsOf } = await import("../apps/e2e/src/clients/results.ts");

const root = fileURLToPath(new URL("..", import.meta.url));
const recorded = join(root, "apps/e2e/src/clients/results.json");
const reports = process.argv.includes("--record") ? process.argv.slice(process.argv.indexOf("--record") + 1) : [];
const outcomes = reports.flatMap((report) =>
  JSON.parse(readFileSync(report, "utf8")).testResults.flatMap(({ assertionResults, name }) =>
    assertionResults.map(({ status, title }) => ({ file: relative(root, name), title, state: status })),
  ),
);
const { problems, results } = recordResults(doors, JSON.parse(readFileSync(recorded, "utf8")), outcomes);
if (reports.length > 0) writeFileSync(recorded, `${JSON.stringify(results, undefined, 2)}\n`);
// The others are recorded all the same.
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
const stale = findStale(doors, results);
if (stale.length > 0)
  throw new Error(`${stale.join("\n")}\nRun their tests, and record the reports: see the first lines of this file.`);

const cell = (text) => text.replaceAll("|", "\\|");
function rowOf(client) {
  const { change, flow, isRefused, language, limits = "", name } = client;
  const result = results[name];
  const passed = result === undefined ? "no recorded run" : `${result.tests} passed`;
  const tested = flow === undefined ? "not tested" : `${flow}: ${passed}`;
  const title = language === "any" || name.includes(language) ? name : `${name} (${language})`;
  return `| ${[title, versionsOf(client), change, tested, isRefused ? `**Refused.** ${limits}` : limits].map(cell).join(" | ")} |`;
}

const sections = doors.map(
  ({ clients, dialect, name, page }) => `## ${name}

[Guide](${page})${dialect === undefined ? "" : `. Off by default: \`shoal serve --dialects ${dialect}\``}

| client | version | what to change | tested | limits |
| --- | --- | --- | --- | --- |
${clients.map(rowOf).join("\n")}
`,
);
const text = `# Clients

Programs for other browser services, and for local browsers, run on Shoal after their address and key have changed. The
tests run the real clients in these versions against a service with a real Chromium, except those marked "not tested". A number of passed tests is the result of
the last recorded run; "no recorded run" are clients whose tests exist and were not recorded with this version. \`KEY\` is a key of Shoal, and
\`shoal.example\` is the address of your service. The console shows the code for a running session under "Connect".

${sections.join("\n")}`;
const source = { source: "the list of clients", tool: "clients.mjs" };
writeOrCheck("docs/clients.md", text, source);

const plain = (markdown) => markdown.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1").replaceAll("`", "");
const offers = doors.flatMap(({ clients, dialect, name: door }) =>
  clients.flatMap(({ code, language, limits, name, tests }) =>
    code === undefined || Object.keys(tests).length === 0
      ? []
      : [{ door, dialect, name, language, code, limits: limits && plain(limits) }],
  ),
);
writeOrCheck(
  "apps/console/src/pages/session/connect/clients.json",
  `${JSON.stringify(offers, undefined, 2)}\n`,
  source,
);
