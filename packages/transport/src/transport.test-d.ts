import {
  bytes,
  createProfile,
  defineEndpoint,
  deleteProfile,
  empty,
  getHealth,
  getProfile,
  listProfiles,
  json,
  readFile,
  tokenPage,
  watchEvents,
  writeFile,
  type Endpoint,
} from "@shoal/contract";
import type { FileSystemEvent, Health, Profile } from "@shoal/schemas";
import { expectTypeOf } from "vitest";
import * as z from "zod/mini";
import { ApiError, type Download, type EventStream, type ItemPage, type Transport } from "./index.ts";

declare const transport: Transport;
declare const someEndpoint: Endpoint;
declare const error: unknown;
const params = { id_or_name: "p" };

expectTypeOf(transport.call(getProfile, { params })).resolves.toExtend<Profile>();
expectTypeOf(transport.call(listProfiles)).resolves.toExtend<ItemPage<Profile>>();
expectTypeOf(transport.call(createProfile)).resolves.toExtend<Profile>();
expectTypeOf(transport.call(deleteProfile, { params })).resolves.toBeUndefined();
expectTypeOf(transport.call(getHealth)).resolves.toExtend<Health>();
expectTypeOf(transport.call(someEndpoint, { params })).resolves.toBeUnknown();
expectTypeOf(transport.call(readFile, { params: { id: "b" }, query: { path: "/" } })).resolves.toBeNever();
expectTypeOf(transport.stream(watchEvents, { params: { id: "b", watch_id: "w" } })).toExtend<
  EventStream<FileSystemEvent>
>();
expectTypeOf(
  transport.download(readFile, { params: { id: "b" }, query: { path: "/" } }),
).resolves.toEqualTypeOf<Download>();
if (ApiError.isInstance(error)) expectTypeOf(error.code).toExtend<string>();

// @ts-expect-error the path has a parameter
void transport.call(getProfile);
// @ts-expect-error wrong parameter name
void transport.call(getProfile, { params: { id: "p" } });
// @ts-expect-error names are strings
void transport.call(createProfile, { body: { name: 7 } });
// @ts-expect-error `body` is required
void transport.call(writeFile, { params: { id: "b" }, query: { path: "/" } });
// @ts-expect-error unknown filter
void transport.call(listProfiles, { query: { colour: "red" } });

// Endpoints with several success statuses.
const common = { area: "Test", plane: "control", method: "GET", summary: "Test.", errors: [500] } as const;
const lease = defineEndpoint({
  ...common,
  operationId: "a",
  path: "/a",
  responses: { 200: json(z.string()), 204: empty },
});
const film = defineEndpoint({
  ...common,
  operationId: "b",
  path: "/b",
  responses: { 200: bytes("video/mp4"), 202: empty },
});
const log = defineEndpoint({ ...common, operationId: "c", path: "/c", responses: { 200: tokenPage(z.string()) } });
expectTypeOf(transport.call(lease)).resolves.toEqualTypeOf<string | undefined>();
expectTypeOf(transport.download(film)).resolves.toEqualTypeOf<Download | undefined>();
expectTypeOf(transport.call(log)).resolves.toEqualTypeOf<ItemPage<string>>();
