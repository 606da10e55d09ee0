import type { Browser, CreatedApiKey, FileSystemEvent, Profile, UpdateProfile } from "@shoal/schemas";
import * as z from "zod/mini";
import { expectTypeOf } from "vitest";
import type {
  createApiKey,
  createBrowser,
  createProfile,
  deleteProfile,
  getProfile,
  listProfiles,
  readFile,
  rotateApiKey,
  updateProfile,
  uploadFiles,
  watchEvents,
  writeFile,
} from "../index.ts";
import {
  bytes,
  defineEndpoint,
  empty,
  json,
  tokenPage,
  type BytesInput,
  type CheckedRequestOf,
  type ErrorBodyOf,
  type EventOf,
  type ItemOf,
  type Page,
  type RequestOf,
  type ResultOf,
  type TokenPage,
} from "./endpoint.ts";

const common = {
  area: "Test",
  plane: "control",
  method: "GET",
  summary: "Test.",
  responses: { 200: empty },
  errors: [500],
} as const;

defineEndpoint({ ...common, operationId: "a", path: "/a" });
defineEndpoint({ ...common, operationId: "b", path: "/a/{id}", params: z.object({ id: z.string() }) });
defineEndpoint({
  ...common,
  operationId: "c",
  path: "/a/{id}/b/{other}",
  params: z.object({ id: z.string(), other: z.string() }),
});
// @ts-expect-error `params` is missing
defineEndpoint({ ...common, operationId: "d", path: "/a/{id}" });
// @ts-expect-error the names differ
defineEndpoint({ ...common, operationId: "e", path: "/a/{id}", params: z.object({ name: z.string() }) });
// @ts-expect-error one of two placeholders is missing
defineEndpoint({ ...common, operationId: "f", path: "/a/{id}/b/{other}", params: z.object({ id: z.string() }) });
// @ts-expect-error the path has no placeholders
defineEndpoint({ ...common, operationId: "g", path: "/a", params: z.object({ id: z.string() }) });
// @ts-expect-error placeholders are strings
defineEndpoint({ ...common, operationId: "h", path: "/a/{id}", params: z.object({ id: z.number() }) });
// @ts-expect-error unknown method
defineEndpoint({ ...common, operationId: "i", path: "/a", method: "FETCH" });
// @ts-expect-error responses need a kind
defineEndpoint({ ...common, operationId: "j", path: "/a", responses: { 200: z.string() } });

expectTypeOf<RequestOf<typeof getProfile>>().toEqualTypeOf<{ readonly params: { id_or_name: string } }>();
expectTypeOf<RequestOf<typeof updateProfile>["body"]>().toEqualTypeOf<UpdateProfile | undefined>();
expectTypeOf<{ params: { id_or_name: "x" } }>().toExtend<RequestOf<typeof updateProfile>>();
expectTypeOf<{ query: { limit: number } }>().toExtend<RequestOf<typeof listProfiles>>();
expectTypeOf<object>().toExtend<RequestOf<typeof listProfiles>>();
expectTypeOf<object>().toExtend<RequestOf<typeof createProfile>>();
expectTypeOf<object>().toExtend<RequestOf<typeof createBrowser>>();
expectTypeOf<{ body: object }>().not.toExtend<RequestOf<typeof createApiKey>>();
expectTypeOf<{ params: { id: string } }>().toExtend<RequestOf<typeof rotateApiKey>>();
expectTypeOf<RequestOf<typeof writeFile>["body"]>().toEqualTypeOf<BytesInput>();
expectTypeOf<{ dest_path: string; file: Uint8Array<ArrayBuffer> }[]>().toExtend<
  RequestOf<typeof uploadFiles>["body"]["files"]
>();

// Handlers receive requests with defaults.
expectTypeOf<CheckedRequestOf<typeof listProfiles>["query"]["limit"]>().toEqualTypeOf<number>();
expectTypeOf<RequestOf<typeof listProfiles>["query"]>().toExtend<{ limit?: number | undefined } | undefined>();
expectTypeOf<CheckedRequestOf<typeof getProfile>["body"]>().toEqualTypeOf<undefined>();

expectTypeOf<ResultOf<typeof getProfile>>().toEqualTypeOf<Profile>();
expectTypeOf<ResultOf<typeof createBrowser>>().toEqualTypeOf<Browser>();
expectTypeOf<ResultOf<typeof createApiKey>>().toEqualTypeOf<CreatedApiKey>();
expectTypeOf<ResultOf<typeof listProfiles>>().toEqualTypeOf<Page<Profile>>();
expectTypeOf<ItemOf<typeof listProfiles>>().toEqualTypeOf<Profile>();
expectTypeOf<ResultOf<typeof deleteProfile>>().toEqualTypeOf<undefined>();
expectTypeOf<ResultOf<typeof readFile>>().toEqualTypeOf<never>();
expectTypeOf<EventOf<typeof watchEvents>>().toEqualTypeOf<FileSystemEvent>();
expectTypeOf<EventOf<typeof getProfile>>().toEqualTypeOf<never>();

// `defineEndpoint` keeps literal types.
const declared = defineEndpoint({ ...common, operationId: "k", path: "/k", responses: { 201: json(z.string()) } });
expectTypeOf(declared.path).toEqualTypeOf<"/k">();
expectTypeOf<ResultOf<typeof declared>>().toEqualTypeOf<string>();

// Several success statuses return the union of their types; `errorBodies` has its own types by status.
export const several = defineEndpoint({
  ...common,
  operationId: "l",
  path: "/l",
  responses: { 200: json(z.string()), 202: json(z.number()), 204: empty },
  errors: [409, 500],
  errorBodies: { 409: z.object({ code: z.string(), message: z.string(), existing_id: z.string() }) },
});
expectTypeOf<ResultOf<typeof several>>().toEqualTypeOf<string | number | undefined>();
expectTypeOf<ErrorBodyOf<typeof several, 409>["existing_id"]>().toEqualTypeOf<string>();
expectTypeOf<ErrorBodyOf<typeof several, 500>>().toEqualTypeOf<never>();
export const film = defineEndpoint({
  ...common,
  operationId: "m",
  path: "/m",
  responses: { 200: bytes("video/mp4", { headers: ["X-Row-Count"] }), 202: empty },
});
expectTypeOf<ResultOf<typeof film>>().toEqualTypeOf<undefined>();
export const log = defineEndpoint({
  ...common,
  operationId: "n",
  path: "/n",
  responses: { 200: tokenPage(z.string()) },
});
expectTypeOf<ResultOf<typeof log>>().toEqualTypeOf<TokenPage<string>>();
expectTypeOf<ItemOf<typeof log>>().toEqualTypeOf<string>();
