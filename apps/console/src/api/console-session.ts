import { queryOptions, type QueryClient } from "@tanstack/react-query";
import * as z from "zod/mini";
import { serviceUrl } from "../base/place.ts";
import { gatewayStatuses, UnreachableError } from "../base/unreachable.ts";
import { refusalText } from "./refusal.ts";

/** `apps/docs/src/browser/person.ts` reads it as well. */
const pageKeyName = "shoal-console-page-key";

let offeredKey: string | undefined;

/** After a redirect of the identity provider, the address contains the page key. */
export function takePageKey(): void {
  const [, key] = /^#page_key=([\w-]{1,200})$/.exec(location.hash) ?? [];
  if (key === undefined) return;
  offeredKey = key;
  history.replaceState(history.state, "", location.pathname + location.search);
}

/** The code of a one-time link, removed from the address so that it does not stay in the history. */
export function takeLinkCode(): string | undefined {
  const code = /^#link=([\w.-]{1,512})$/.exec(location.hash)?.[1];
  if (code !== undefined) history.replaceState(history.state, "", location.pathname + location.search);
  return code;
}

/** Sent with each request: services on other ports of the host get the cookie, but cannot read the storage of this page. */
export const consoleHeaders = () => ({ "x-shoal-console": localStorage.getItem(pageKeyName) ?? "none" });

const Role = z.string();
const ConsoleSession = z.object({
  principal: z.object({ type: z.string(), id: z.string(), name: z.string() }),
  organization_role: z.optional(z.nullable(Role)),
  projects: z.array(z.object({ id: z.string(), name: z.string(), role: Role })),
  expires_at: z.optional(z.string()),
});
export type ConsoleSession = z.output<typeof ConsoleSession>;

const PageKey = z.object({ page_key: z.string() });
const DownloadKey = z.object({ key: z.string() });

const SignInWays = z.object({
  api_key: z.boolean(),
  oidc: z.optional(z.nullable(z.object({ label: z.string(), href: z.string() }))),
});

/** A refusal of the sign-in. The message comes from the service. */
export class SignInError extends Error {
  override readonly name = "SignInError";
}

async function send(method: string, path: string, body?: object): Promise<Response> {
  return fetch(serviceUrl + path, {
    method,
    headers: { ...consoleHeaders(), accept: "application/json", ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  }).catch((error: unknown) => {
    throw new UnreachableError("The service does not answer.", { cause: error });
  });
}

async function refusalOf(answer: Response): Promise<SignInError> {
  return new SignInError(await refusalText(answer));
}

/** Returns `null` for a signed-out person. */
export async function readSession(): Promise<ConsoleSession | null> {
  let answer = await send("GET", "/console/session");
  // A link of another site must not replace a key that works.
  if (answer.status === 401 && offeredKey !== undefined) {
    localStorage.setItem(pageKeyName, offeredKey);
    offeredKey = undefined;
    answer = await send("GET", "/console/session");
  }
  if (answer.status === 401 || answer.status === 403) return null;
  if (gatewayStatuses.has(answer.status)) throw new UnreachableError(await refusalText(answer));
  if (!answer.ok) throw await refusalOf(answer);
  return ConsoleSession.parse(await answer.json());
}

/** `null` = signed out. Its error with data = the service is down: see {@link isUnreachable}. */
export const sessionQuery = queryOptions({
  queryKey: ["console-session"],
  queryFn: readSession,
  staleTime: 5 * 60_000,
});

export const signInWaysQuery = queryOptions({
  queryKey: ["sign-in-ways"],
  queryFn: async () => {
    const answer = await send("GET", "/console/sign_in");
    return answer.ok ? SignInWays.parse(await answer.json()) : { api_key: true };
  },
  staleTime: Infinity,
});

/** @throws {SignInError} with the refusal of the service. */
export async function signIn(
  queries: QueryClient,
  proof: { readonly api_key: string } | { readonly link_code: string },
): Promise<void> {
  const answer = await send("POST", "/console/session", proof);
  // The text of the service is for programs: it names headers and operations.
  if (answer.status === 401 && "api_key" in proof)
    throw new SignInError("This is not an API key of this service. Copy the whole key, or ask for a new one.");
  if (!answer.ok) throw await refusalOf(answer);
  localStorage.setItem(pageKeyName, PageKey.parse(await answer.json()).page_key);
  // A session that ended without a sign-out may have been that of another person.
  forgetAnswers(queries);
  await queries.query({ ...sessionQuery, staleTime: 0 });
}

/** For the address of one download. It is valid for an hour. */
export async function createDownloadKey(path: string): Promise<string> {
  const answer = await send("POST", "/console/download_keys", { path });
  if (!answer.ok) throw await refusalOf(answer);
  return DownloadKey.parse(await answer.json()).key;
}

export async function signOut(queries: QueryClient): Promise<void> {
  const answer = await send("DELETE", "/console/session");
  if (!answer.ok && answer.status !== 401) throw await refusalOf(answer);
  localStorage.removeItem(pageKeyName);
  queries.setQueryData(sessionQuery.queryKey, null);
  forgetAnswers(queries);
}

function forgetAnswers(queries: QueryClient): void {
  // The frame observes the session, so its entry stays; the ways to sign in are the same for all.
  const kept: ReadonlySet<unknown> = new Set([sessionQuery.queryKey[0], signInWaysQuery.queryKey[0]]);
  queries.removeQueries({ predicate: ({ queryKey }) => !kept.has(queryKey[0]) });
}
