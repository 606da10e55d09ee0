import { contract, type Endpoint } from "@shoal/contract";
import { notImplemented } from "@shoal/instance";
import { Browser, DirectoryWatch } from "@shoal/schemas";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

let server: TestServer;
let session: Browser;
let authorization: string;
beforeAll(async () => {
  server = await startTestServer();
  authorization = `Bearer ${server.key}`;
  session = Browser.parse((await server.request("POST", "/browsers", { body: { timeout_seconds: 3600 } })).body);
});
afterAll(() => server.close());

const url = (tail: string) => `${server.baseUrl}/browsers/${session.session_id}/fs/${tail}`;
const isIdle = async () =>
  Browser.parse((await server.request("GET", `/browsers/${session.session_id}`)).body).expires_at !== undefined;

it("writes, lists and reads files of a session", async () => {
  const written = await fetch(url("write_file?path=%2Fhome%2Fshoal%2Fa%20b.txt"), {
    method: "PUT",
    headers: { authorization, "content-type": "application/octet-stream" },
    body: "hello",
  });
  expect([written.status, await written.text()]).toEqual([201, ""]);
  const listed = await fetch(url("list_files?path=/home/shoal"), { headers: { authorization } });
  expect(await listed.json()).toEqual(
    expect.arrayContaining([expect.objectContaining({ name: "a b.txt", size_bytes: 5 })]),
  );
  const read = await fetch(url("read_file?path=/home/shoal/a%20b.txt"), {
    headers: { authorization, "x-request-id": "through-1" },
  });
  expect([read.status, await read.text(), read.headers.get("x-request-id")]).toEqual([200, "hello", "through-1"]);
});

it("answers the instance's own errors", async () => {
  const missing = await fetch(url("read_file?path=/nowhere"), { headers: { authorization } });
  expect([missing.status, await missing.json()]).toMatchObject([404, { code: "not_found" }]);
  const wrong = await fetch(url("read_file?path=relative&colour=red"), { headers: { authorization } });
  expect([wrong.status, await wrong.json()]).toMatchObject([400, { details: expect.any(Array) as unknown }]);
});

it("ignores unknown fields of a session's operations, lists them in a header and logs them", async () => {
  const answer = await server.request("POST", `/browsers/${session.session_id}/process/exec?nonsense=1`, {
    body: { command: "true", colour: "red", nested: { x: 1 } },
  });
  expect([answer.status, answer.headers.get("x-shoal-ignored-fields")]).toEqual([200, "body.colour, body.nested"]);
  await expect.poll(() => server.log()).toMatch(/"ignored_fields":"body\.colour, body\.nested"/);
  const listed = await fetch(url("list_files?path=/home/shoal&pth=1"), { headers: { authorization } });
  expect([listed.status, listed.headers.get("x-shoal-ignored-fields")]).toEqual([
    200,
    "query.pth (did you mean path?)",
  ]);
  // Unknown parts of a form are refused: they may be known ones in an unknown notation.
  for (const unknown of ["note", "files[0][mode]"]) {
    const form = new FormData();
    form.append("files[0][dest_path]", "/home/shoal/part.txt");
    form.append("files[0][file]", new Blob(["part"]), "part.txt");
    form.append(unknown, "x");
    const answer = await fetch(url("upload"), { method: "POST", headers: { authorization }, body: form });
    expect([answer.status, await answer.json()]).toMatchObject([400, { field: `body.${unknown}` }]);
  }
});

it("answers 501 for operations that no instance supports yet, for any request", async () => {
  expect(notImplemented).toEqual([...new Set(notImplemented)].sort());
  for (const { method, operationId, path } of notImplemented.map((name): Endpoint => contract[name])) {
    const answer = await server.request(
      method,
      `${path.replace("{id}", session.session_id).replaceAll(/\{\w+\}/g, "x")}?nonsense=1`,
      method === "GET" ? {} : { body: "{" },
    );
    expect([operationId, answer.status, answer.body]).toMatchObject([
      operationId,
      501,
      { code: "not_implemented", message: expect.stringContaining(operationId) as unknown },
    ]);
  }
});

it("follows a directory: events arrive as they happen, and the stream keeps the session in use and ends with it", async () => {
  const watch = DirectoryWatch.parse(
    await (
      await fetch(url("watch"), {
        method: "POST",
        headers: { authorization, "content-type": "application/json" },
        body: JSON.stringify({ path: "/home/shoal" }),
      })
    ).json(),
  );
  const events = await fetch(url(`watch/${watch.watch_id}/events`), { headers: { authorization } });
  expect([events.status, events.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  await expect.poll(isIdle).toBe(false);
  await fetch(url("write_file?path=/home/shoal/seen.txt"), {
    method: "PUT",
    headers: { authorization, "content-type": "application/octet-stream" },
    body: "x",
  });
  const reader = events.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes("seen.txt")) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) throw new Error("The stream ended.");
    text += value;
  }
  expect((await server.request("DELETE", `/browsers/${session.session_id}`)).status).toBe(204);
  // Ends with a last frame or is cut, depending on which end the server notices first.
  await expect
    .poll(async () => ((await reader?.read().catch(() => ({ done: true }))) ?? { done: true }).done)
    .toBe(true);
});
