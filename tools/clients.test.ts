import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Client, Door } from "../apps/e2e/src/clients/client.ts";
import { doors } from "../apps/e2e/src/clients/doors.ts";
import { findStale, isReasonless, type Outcome, recordResults } from "../apps/e2e/src/clients/results.ts";
import offers from "../apps/console/src/pages/session/connect/clients.json" with { type: "json" };
import results from "../apps/e2e/src/clients/results.json" with { type: "json" };

const root = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const clients = doors.flatMap((door) => door.clients);

it("each client has another name, and no results of other versions", () => {
  expect(new Set(clients.map(({ name }) => name)).size).toBe(clients.length);
  expect(findStale(doors, results)).toEqual([]);
  expect(Object.keys(results).filter((name) => !clients.some((client) => client.name === name))).toEqual([]);
});

it("the console offers only clients with tests", () => {
  const tested = clients.filter(({ tests }) => Object.keys(tests).length > 0).map(({ name }) => name);
  expect(offers.map(({ name }) => name).filter((name) => !tested.includes(name))).toEqual([]);
});

it("each named test exists", () => {
  const missing = clients
    .flatMap(({ tests }) => Object.entries(tests))
    .flatMap(([file, titles]) =>
      titles.filter((title) => {
        // Titles of the guide's programs are headings: "docs/guide/python.md: MCP".
        const [, page = "", heading = ""] = /^(docs\/guide\/\w+\.md): (.+)$/.exec(title) ?? [];
        return page === "" ? !read(file).includes(title) : !read(page).includes(`\n## ${heading}\n`);
      }),
    );
  expect(missing).toEqual([]);
});

const client: Client = {
  name: "a client",
  language: "any",
  versions: ["2.0.0"],
  change: "",
  tests: { "a.slow.ts": ["works by %s", "ends"] },
};
const door: Door = { name: "a protocol", page: "guide/README.md", clients: [client] };
const outcome = (title: string, state = "passed"): Outcome => ({ file: "a.slow.ts", title, state });

it("takes the results of a client whose tests all passed, and keeps those of the others", () => {
  const earlier = { "a client": { versions: "1.0.0", tests: 1, named: ["ends"] } };
  expect(findStale([door], earlier)).toEqual(["a client 2.0.0: the last results are of 1.0.0."]);
  expect(recordResults([door], earlier, [outcome("works by http")])).toEqual({ results: earlier, problems: [] });
  const all = [outcome("works by http"), outcome("works by ws"), outcome("ends (skipped, no client)")];
  expect(recordResults([door], earlier, all)).toEqual({
    results: { "a client": { versions: "2.0.0", tests: 3, named: ["works by %s", "ends"] } },
    problems: [],
  });
  expect(recordResults([], earlier, all).results).toEqual({});
});

it("keeps the result of a client whose test failed or was skipped, and takes those of the others", () => {
  const other = { ...client, name: "another", tests: { "a.slow.ts": ["ends"] } };
  const both = { ...door, clients: [{ ...client, tests: { "a.slow.ts": ["works by %s"] } }, other] };
  const earlier = { another: { versions: "1.0.0", tests: 1, named: ["ends"] } };
  expect(recordResults([both], earlier, [outcome("works by http"), outcome("ends", "skipped")])).toEqual({
    results: { "a client": { versions: "2.0.0", tests: 1, named: ["works by %s"] }, ...earlier },
    problems: ["another: a.slow.ts > ends: skipped"],
  });
});

it("names a test that the last results do not include", () => {
  const last = { "a client": { versions: "2.0.0", tests: 1, named: ["ends"] } };
  expect(findStale([door], last)).toEqual(['a client: the last results do not include the test "works by %s".']);
  expect(findStale([door], {})).toEqual([]);
});

it("reports a named test that is skipped without a reason", () => {
  const named = { file: "apps/e2e/src/automation/connect.slow.ts", title: "Puppeteer connects by browserURL" };
  expect(isReasonless({ ...named, state: "skipped" }, named.title)).toBe(true);
  expect(isReasonless({ ...named, state: "skipped" }, `clients (skipped, no sandbox) > ${named.title}`)).toBe(false);
  expect(isReasonless({ ...named, state: "passed" }, named.title)).toBe(false);
  expect(isReasonless({ ...named, title: "another", state: "skipped" }, "another")).toBe(false);
});
