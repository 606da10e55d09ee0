import { contract as native } from "@shoal/contract";
import { answerJson } from "@shoal/placement";
import { badInput, ServiceError } from "@shoal/router";
import { type ImportStorageState, PlaywrightResult, StorageState } from "@shoal/schemas";
import * as z from "zod/mini";
import { callInstance } from "../kit/instance-calls.ts";
import type { NativeCalls } from "../kit/native-calls.ts";
import type { SessionContext } from "./shapes.ts";

interface In {
  readonly calls: NativeCalls;
  readonly sessionId: string;
  readonly signal: AbortSignal;
}

/** Characters as JSON. */
const maxState = 250_000;

async function run({ calls, ...to }: In, code: string): Promise<PlaywrightResult> {
  const body = { code, timeout_sec: 30 };
  return PlaywrightResult.parse(await answerJson(await callInstance(calls, native.executePlaywright, { ...to, body })));
}

/** Local storage is written on an empty page of each origin, without a request to it. */
const writeContext = `await context.addCookies(state.cookies);
for (const { localStorage: items, origin } of state.origins) {
  const tab = await context.newPage();
  await tab.route("**/*", (route) => route.fulfill({ contentType: "text/html", body: "<!doctype html>" }));
  await tab.goto(origin);
  await tab.evaluate((all) => all.forEach(({ name, value }) => localStorage.setItem(name, value)), items);
  await tab.close();
}`;

/** Sets cookies and local storage of a new session. @throws {ServiceError} 400 without a value of them. */
export async function startFrom(state: ImportStorageState, session: In): Promise<void> {
  const json = JSON.stringify(state);
  if (json.length > maxState)
    throw badInput("body.sessionContext", "is too long as JSON", {
      limit: maxState,
      hint: "Import it with PUT /profiles/ID/storage_state, and use profileId.",
    });
  const { success } = await run(session, `const state = ${json};\n${writeContext}`);
  if (!success)
    throw badInput("body.sessionContext", "the browser refuses one of its cookies or origins", {
      hint: "Give cookies a domain and a path, and write origins as https://example.com.",
    });
}

const readContext = `const origins = [];
const sessions = {};
for (const page of context.pages()) {
  const read = () => [location.origin, { ...localStorage }, { ...sessionStorage }];
  const [origin, local, session] = await page.evaluate(read).catch(() => ["null"]);
  if (origin === "null" || origin in sessions) continue;
  sessions[origin] = session;
  origins.push({ origin, localStorage: Object.entries(local).map(([name, value]) => ({ name, value })) });
}
return { state: { cookies: await context.cookies(), origins }, sessions };`;

/** Of an instance, which may be compromised. */
const Read = z.object({ state: StorageState, sessions: z.record(z.string(), z.record(z.string(), z.string())) });

/** Cookies, and the storage of open pages. */
export async function contextOf(session: In): Promise<SessionContext> {
  const read = Read.safeParse((await run(session, readContext)).result);
  if (!read.success)
    throw new ServiceError(503, "browser_not_running", "The state of the session could not be read.", {
      hint: "Close dialogs of its pages, and repeat the request.",
    });
  const { sessions, state } = read.data;
  return {
    cookies: state.cookies.map(({ partitionKey: site, sameSite, ...cookie }) => ({
      ...cookie,
      sameSite: sameSite as "Strict" | "Lax" | "None",
      session: cookie.expires === -1,
      ...(site !== undefined && { partitionKey: { topLevelSite: site, hasCrossSiteAncestor: false } }),
    })),
    localStorage: Object.fromEntries(
      state.origins.map(({ localStorage, origin }) => [
        origin,
        Object.fromEntries(localStorage.map(({ name, value }) => [name, value])),
      ]),
    ),
    sessionStorage: sessions,
  };
}
