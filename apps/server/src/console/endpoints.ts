import { defineEndpoint, empty, json } from "@shoal/contract";
import { checked, Id, lazyObject, Timestamp } from "@shoal/schemas";
import * as z from "zod/mini";
import { roles } from "@shoal/contract/rights";

/** Above the length of every key and code. */
const secret = checked(z.string(), z.minLength(1), z.maxLength(200));
const role = z.enum(roles);

const SignIn = lazyObject(() => ({ api_key: z.optional(secret), link_code: z.optional(secret) }));

const sessionFields = () => ({
  principal: z.object({ type: z.enum(["api_key", "user"]), id: Id, name: z.string() }),
  /** In the whole organization; `null` for rights in single projects only. */
  organization_role: z.nullable(role),
  projects: z.array(z.object({ id: Id, name: z.string(), role })),
  /** The end without further use. */
  expires_at: Timestamp,
});
const ConsoleSession = lazyObject(sessionFields);
export type ConsoleSessionAnswer = z.output<typeof ConsoleSession>;

/** With what the page sends as `X-Shoal-Console`, in addition to the cookie. */
const BegunConsoleSession = lazyObject(() => ({ ...sessionFields(), page_key: z.string() }));
/** After the key: `/PROJECT/browsers/ID/fs/read_file?path=…`. */
const DownloadPath = lazyObject(() => ({ path: checked(z.string(), z.minLength(1), z.maxLength(16_384)) }));
const DownloadKey = lazyObject(() => ({ key: z.string(), expires_at: Timestamp }));

const SignInWays = lazyObject(() => ({
  api_key: z.boolean(),
  oidc: z.optional(z.object({ label: z.string(), href: z.string() })),
}));

const ConsoleLink = lazyObject(() => ({ url: z.string(), expires_at: Timestamp }));

const area = "Console";
const session = { area, plane: "control", path: "/console/session" } as const;

/** For pages of the console: not part of the contract, because programs use keys. */
export const consoleEndpoints = {
  beginConsoleSession: defineEndpoint({
    ...session,
    operationId: "console.session.begin",
    method: "POST",
    summary: "Sign in to the console.",
    body: json(SignIn, { limitBytes: 4096 }),
    responses: { 200: json(BegunConsoleSession) },
    errors: [400, 401, 403, 404, 410, 429],
  }),
  getConsoleSession: defineEndpoint({
    ...session,
    operationId: "console.session.get",
    method: "GET",
    summary: "Get the session of the console.",
    responses: { 200: json(ConsoleSession) },
    errors: [401, 403, 429],
  }),
  endConsoleSession: defineEndpoint({
    ...session,
    operationId: "console.session.end",
    method: "DELETE",
    summary: "Sign out of the console.",
    responses: { 204: empty },
    errors: [401, 403, 429],
  }),
  createDownloadKey: defineEndpoint({
    area,
    plane: "control",
    operationId: "console.downloadKeys.create",
    method: "POST",
    path: "/console/download_keys",
    summary: "Create a key for the address of a download. It is valid for an hour.",
    body: json(DownloadPath),
    responses: { 201: json(DownloadKey) },
    errors: [400, 401, 403, 429],
    idempotency: { repeats: "every key is valid for an hour" },
  }),
  getSignInWays: defineEndpoint({
    area,
    plane: "control",
    operationId: "console.signIn.get",
    method: "GET",
    path: "/console/sign_in",
    summary: "List the ways to sign in to the console.",
    responses: { 200: json(SignInWays) },
    errors: [503],
  }),
  createConsoleLink: defineEndpoint({
    area,
    plane: "control",
    operationId: "console.links.create",
    method: "POST",
    path: "/console/links",
    summary: "Create a link that opens the console signed in, once and within 60 seconds.",
    responses: { 201: json(ConsoleLink) },
    errors: [401, 403, 429],
    idempotency: { repeats: "every link works once" },
  }),
};
