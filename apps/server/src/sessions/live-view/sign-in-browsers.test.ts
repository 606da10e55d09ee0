import { callPageTool, invokeWebMcpTool, listWebMcpTools } from "@shoal/contract";
import { expect, it } from "vitest";
import { SignInBrowsers } from "./sign-in-browsers.ts";

const full = { deployment_id: null };
const ofApp = { deployment_id: "d1" };
const ofPerson = { deployment_id: null, isPerson: true } as const;
const view = { isForLogin: false, sessionId: "login" };

type Parts = ConstructorParameters<typeof SignInBrowsers>[0];
type Row = Awaited<ReturnType<Parts["find"]>>;
function browsersOver(find: (idOrName: string) => Row, parts: Partial<Parts> = {}): SignInBrowsers {
  return new SignInBrowsers({
    find: (_projectId, idOrName) => Promise.resolve(find(idOrName)),
    keepTyped: () => Promise.resolve(),
    isHere: () => true,
    ...parts,
  });
}

function open(endedAt: string | null = null) {
  const rows = new Map([
    ["login", { id: "login", ended_at: endedAt, options: { signs_in: true as const } }],
    ["plain", { id: "plain", ended_at: endedAt, options: {} }],
  ]);
  return browsersOver((idOrName) => rows.get(idOrName === "renamed" ? "login" : idOrName));
}

it("closes the browser of a login to callers without the right to secrets, by id and by name", async () => {
  const browsers = open();
  await expect(browsers.refuse("p1", "login")).rejects.toMatchObject({ status: 403, code: "forbidden" });
  await expect(browsers.refuse("p1", "renamed")).rejects.toMatchObject({ status: 403 });
  await expect(browsers.refuse(undefined, "login")).rejects.toMatchObject({ status: 403 });
  await browsers.refuse("p1", "plain");
  await browsers.refuse("p1", "missing");
});

it("ends views of apps and persons before the login types, and keeps those of keys with the right", async () => {
  const browsers = open();
  const ended: string[] = [];
  for (const [name, key] of Object.entries({ full, ofApp, ofPerson })) {
    const until = await browsers.admitView(view, key);
    browsers.endView("login", until, () => ended.push(name));
  }
  browsers.noteTyped("login", "entered");
  expect(ended).toEqual(["ofApp", "ofPerson"]);
  await expect(browsers.admitView(view, ofApp)).rejects.toMatchObject({ status: 403 });
  expect(await browsers.admitView(view, full)).toBeUndefined();
});

it("keeps the view of the person who signs in until a stored value is typed", async () => {
  const browsers = open();
  let ends = 0;
  const until = await browsers.admitView({ ...view, isForLogin: true }, full);
  const stop = browsers.endView("login", until, () => (ends += 1));
  browsers.noteTyped("login", "entered");
  expect(ends).toBe(0);
  browsers.noteTyped("login", "stored");
  expect(ends).toBe(1);
  stop();
  browsers.noteTyped("login", "stored");
  expect(ends).toBe(1);
  await expect(browsers.admitView({ ...view, isForLogin: true }, full)).rejects.toMatchObject({ status: 403 });
});

it("ends a view at once that was admitted while the login began to type", async () => {
  const browsers = open();
  const until = await browsers.admitView(view, ofApp);
  browsers.noteTyped("login", "stored");
  let ends = 0;
  browsers.endView("login", until, () => (ends += 1));
  expect(ends).toBe(1);
});

it("shows no recording of an ended login, and leaves other sessions alone", async () => {
  const browsers = open("2026-01-01T00:00:00Z");
  await expect(browsers.admitView(view, ofApp)).rejects.toMatchObject({ status: 403 });
  expect(await browsers.admitView({ isForLogin: false, sessionId: "plain" }, ofApp)).toBeUndefined();
});

const reading = { operationId: "browsers.fs.readFile", moves: ["read files"] as const };

it("keeps the files of a session closed after its end, on other servers and after a restart", async () => {
  let row: NonNullable<Row> = { id: "plain", ended_at: null, options: {} };
  let kept = 0;
  const first = browsersOver(() => row, {
    keepTyped() {
      kept += 1;
      row = { ...row, options: { typed_stored: true } };
      return Promise.resolve();
    },
  });
  const second = browsersOver(() => row, { isHere: () => false });
  await second.refuse("p1", "plain", reading);
  await first.noteStored("plain");
  await first.noteStored("plain");
  expect(kept).toBe(1);
  row = { ...row, ended_at: "2026-01-01T00:00:00Z" };
  for (const server of [first, second, browsersOver(() => row, { isHere: () => false })])
    await expect(server.refuse("p1", "plain", reading)).rejects.toMatchObject({ status: 403, code: "forbidden" });
  // Its pages stay open.
  await second.refuse("p1", "plain", callPageTool);
});

it("types nothing if the fact cannot be stored, and stores it then with the next value", async () => {
  let isDown = true;
  const browsers = browsersOver(() => ({ id: "plain", ended_at: null, options: {} }), {
    keepTyped: () => (isDown ? Promise.reject(new Error("no database")) : Promise.resolve()),
  });
  await expect(browsers.noteStored("plain")).rejects.toThrow("no database");
  await expect(browsers.refuse("p1", "plain", reading)).rejects.toMatchObject({ status: 403 });
  isDown = false;
  await browsers.noteStored("plain");
});

it("closes a fork as its parent", async () => {
  const rows = new Map(["plain", "fork"].map((id) => [id, { id, ended_at: null, options: {} }]));
  const forked = browsersOver((id) => rows.get(id));
  forked.noteTyped("plain", "stored");
  await forked.refuse("p1", "fork", reading);
  forked.noteFork("plain", "fork");
  await expect(forked.refuse("p1", "fork", reading)).rejects.toMatchObject({ status: 403 });
});

it("closes calls of tools that may be custom, and leaves the tools of pages open", async () => {
  const browsers = open();
  const calls = [invokeWebMcpTool, listWebMcpTools, callPageTool];
  for (const each of calls) await browsers.refuse("p1", "plain", each);
  browsers.noteTyped("plain", "stored");
  const [call, ...others] = calls;
  await expect(browsers.refuse("p1", "plain", call)).rejects.toMatchObject({ status: 403, code: "forbidden" });
  for (const other of others) await browsers.refuse("p1", "plain", other);
});
