import { Browser, CreatedApiKey } from "@shoal/schemas";
import { eventuallyPasses, waitLimitMs } from "@shoal/testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { RunningServer } from "../../main/running-server.ts";
import { sharedSecret, startSecondServer } from "../../testing/second-server.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import { refusedUpgrade } from "../../testing/upgrade.ts";

let first: TestServer;
let second: RunningServer;
/** Runs on the first server. */
let here: Browser;
/** Runs on the second server. Clients reach it through the first one. */
let there: Browser;

async function create(baseUrl: string): Promise<Browser> {
  const answer = await fetch(`${baseUrl}/browsers`, {
    method: "POST",
    headers: { authorization: `Bearer ${first.key}`, "content-type": "application/json" },
    body: JSON.stringify({ timeout_seconds: 3600, telemetry: { enabled: true } }),
  });
  return Browser.parse(await answer.json());
}

beforeAll(async () => {
  first = await startTestServer({ secret_key: sharedSecret }, { proxied: true });
  second = await startSecondServer(first);
  [here, there] = await Promise.all([create(first.baseUrl), create(second.baseUrl)]);
  await eventuallyPasses(async () => {
    expect((await first.request("GET", `/browsers/${there.session_id}/fs/list_files?path=/`)).status).toBe(200);
  });
});
afterAll(async () => {
  await second.close(1000);
  await first.close();
});

let key: CreatedApiKey;
beforeEach(async () => {
  key = CreatedApiKey.parse(
    (await first.request("POST", "/org/api_keys", { body: { name: "revoked", days_to_expire: 30 } })).body,
  );
});

/** The session as the key's owner sees it, with URLs issued to that key. */
const shown = async ({ session_id }: Browser) =>
  Browser.parse((await first.request("GET", `/browsers/${session_id}`, { key: key.key })).body);

/** Opens a WebSocket. @returns how it ends. */
async function open(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly end: Promise<string>; close(): void }> {
  // Node's client accepts headers, which the web standard's types do not have.
  const socket = new WebSocket(url, { headers } as unknown as string[]);
  const end = new Promise<string>((resolve) => {
    socket.onclose = ({ code, reason }) => {
      resolve(`${String(code)} ${reason}`);
    };
  });
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = reject;
  });
  return {
    end,
    close() {
      socket.close();
    },
  };
}

/** Opens an event stream. @returns its last event. */
async function follow(path: string): Promise<{ readonly end: Promise<string>; close(): void }> {
  const abort = new AbortController();
  const answer = await fetch(first.baseUrl + path, {
    headers: { authorization: `Bearer ${key.key}` },
    signal: abort.signal,
  });
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  const end = answer.text().then(
    (text) => text.trimEnd().split("\n\n").at(-1) ?? "",
    () => "cut",
  );
  return {
    end,
    close() {
      abort.abort();
    },
  };
}

async function terminalOf({ session_id }: Browser): Promise<string> {
  const { body } = await first.request("POST", `/browsers/${session_id}/process/spawn`, {
    body: { command: "cat", allocate_tty: true },
  });
  return (body as { process_id: string }).process_id;
}

async function openAll(session: Browser) {
  const mine = await shown(session);
  const terminal = `/browsers/${mine.session_id}/process/${await terminalOf(mine)}`;
  const sockets = first.baseUrl.replace("http", "ws");
  const token = new URL(mine.cdp_ws_url).searchParams.get("jwt") ?? "";
  return {
    cdp: await open(mine.cdp_ws_url),
    bidi: await open(mine.webdriver_ws_url),
    live_view: await open(`${mine.browser_live_view_url?.replace("http", "ws") ?? ""}/socket`),
    live_view_read_only: await open(`${mine.browser_live_view_read_only_url?.replace("http", "ws") ?? ""}/socket`),
    terminal: await open(`${sockets}${terminal}/attach`, { authorization: `Bearer ${key.key}` }),
    terminal_by_token: await open(`${sockets}${terminal}/attach?jwt=${token}`),
    output: await follow(`${terminal}/stdout/stream`),
    telemetry: await follow(`/browsers/${mine.session_id}/telemetry/stream`),
  };
}

type Opened = Awaited<ReturnType<typeof openAll>>;

/** Returns how each connection ended; `open` after the time of a wait. */
async function endsOf(opened: Opened): Promise<Record<string, string>> {
  const timer = Promise.withResolvers<string>();
  const timeout = setTimeout(timer.resolve, waitLimitMs, "open");
  const ends = Object.entries(opened).map(
    async ([name, { end }]) => [name, await Promise.race([end, timer.promise])] as const,
  );
  const found = Object.fromEntries(await Promise.all(ends));
  clearTimeout(timeout);
  return found;
}

const areOpen = async (...ends: Promise<string>[]) =>
  (await Promise.race([...ends, Promise.resolve("open")])) === "open";

const ended = (problem: string) => {
  const socket = `1008 ${problem}`;
  const stream = `event: error\ndata: ${JSON.stringify({ code: "unauthorized", message: `The stream was ended. ${problem}`, status: 401 })}`;
  return {
    cdp: socket,
    bidi: socket,
    live_view: socket,
    live_view_read_only: socket,
    terminal: socket,
    terminal_by_token: socket,
    output: stream,
    telemetry: stream,
  };
};

/** Waits until the server has looked for invalid keys: it ended a connection of another one. */
async function lookPassed(): Promise<void> {
  const { body } = await first.request("POST", "/org/api_keys", { body: { name: "witness" } });
  const witness = CreatedApiKey.parse(body);
  const shownToWitness = await first.request("GET", `/browsers/${here.session_id}`, { key: witness.key });
  const { end } = await open(Browser.parse(shownToWitness.body).cdp_ws_url);
  await first.request("DELETE", `/org/api_keys/${witness.id}`);
  expect(await end).toContain("1008");
}

const revoked = "The API key is unknown or was deleted.";

describe.each([
  ["on the server that the client uses", () => here],
  ["on another server", () => there],
])("of a session %s", (_where, sessionOf) => {
  it("ends every connection when the key is deleted on another server, and opens no new ones", async () => {
    const session = await shown(sessionOf());
    const opened = await openAll(session);
    const other = await open(
      Browser.parse((await first.request("GET", `/browsers/${session.session_id}`)).body).cdp_ws_url,
    );
    const deleted = await fetch(`${second.baseUrl}/org/api_keys/${key.id}`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${first.key}` },
    });
    expect(deleted.status).toBe(204);
    expect(await endsOf(opened)).toEqual(ended(revoked));
    expect(await areOpen(other.end)).toBe(true);
    other.close();
    const token = new URL(session.cdp_ws_url).search;
    for (const url of [
      session.cdp_ws_url,
      session.webdriver_ws_url,
      `${session.browser_live_view_url?.replace("http", "ws") ?? ""}/socket`,
    ])
      expect(await refusedUpgrade(url)).toMatchObject({ status: 401, body: { code: "unauthorized" } });
    expect(
      (await first.request("GET", `/browsers/${session.session_id}/fs/list_files${token}&path=/`, { key: null }))
        .status,
    ).toBe(401);
    expect((await fetch(session.browser_live_view_url ?? "")).status).toBe(401);
    expect((await first.request("GET", `/browsers/${session.session_id}`)).status).toBe(200);
  });
});

it("ends every connection when the key is rotated out, but not during a grace period", async () => {
  const opened = await openAll(here);
  expect((await first.request("POST", `/org/api_keys/${key.id}/rotate`, { body: { expire_in_days: 1 } })).status).toBe(
    201,
  );
  await lookPassed();
  expect(await areOpen(...Object.values(opened).map(({ end }) => end))).toBe(true);
  expect((await first.request("POST", `/org/api_keys/${key.id}/rotate`, { body: { expire_in_days: 0 } })).status).toBe(
    201,
  );
  expect(await endsOf(opened)).toMatchObject({
    cdp: expect.stringMatching(/^1008 The API key expired at /) as unknown,
    output: expect.stringContaining("unauthorized") as unknown,
  });
});

it("ends every connection when the key expires", async () => {
  const opened = await openAll(here);
  const expiresAt = new Date(Date.now() + 300);
  await first.database.query
    .updateTable("api_keys")
    .set({ expires_at: expiresAt.toISOString() })
    .where("id", "=", key.id)
    .execute();
  await new Promise((resolve) => setTimeout(resolve, expiresAt.getTime() - Date.now()));
  expect(await endsOf(opened)).toEqual(ended(`The API key expired at ${expiresAt.toISOString()}.`));
});

it("ends every connection after an outage in which the notification of the deletion was lost", async () => {
  const opened = await openAll(here);
  first.proxy?.pause();
  first.proxy?.cut();
  await first.database.query
    .updateTable("api_keys")
    .set({ deleted_at: new Date().toISOString() })
    .where("id", "=", key.id)
    .execute();
  expect(await areOpen(opened.cdp.end, opened.output.end)).toBe(true);
  first.proxy?.resume();
  await expect.poll(() => areOpen(opened.cdp.end)).toBe(false);
  expect(await endsOf(opened)).toEqual(ended(revoked));
});
