import { bytes, defineEndpoint, empty, json, tokenPage, type TokenPage } from "@shoal/contract";
import type {
  contract,
  createProfile,
  deleteProfile,
  listProfiles,
  readFile,
  uploadZip,
  watchEvents,
  writeFile,
} from "@shoal/contract";
import type { FileSystemEvent, Profile } from "@shoal/schemas";
import type { Readable } from "node:stream";
import { expectTypeOf } from "vitest";
import * as z from "zod/mini";
import {
  withStatus,
  type BytesReply,
  type Handler,
  type HandlerCall,
  type HandlerResult,
  type Handlers,
  type HandlersOrNotYet,
  type MultipartPart,
  type StatusReply,
  type StreamFrame,
} from "../index.ts";

interface Caller {
  readonly key: string;
}

expectTypeOf<HandlerCall<typeof createProfile>["body"]["name"]>().toEqualTypeOf<string | undefined>();
expectTypeOf<HandlerCall<typeof listProfiles>["query"]["limit"]>().toEqualTypeOf<number>();
expectTypeOf<HandlerCall<typeof writeFile>["body"]>().toEqualTypeOf<Readable>();
expectTypeOf<HandlerCall<typeof uploadZip>["body"]>().toEqualTypeOf<AsyncIterable<MultipartPart>>();
expectTypeOf<HandlerCall<typeof listProfiles>["body"]>().toEqualTypeOf<undefined>();
expectTypeOf<HandlerCall<typeof listProfiles, Caller>["context"]>().toEqualTypeOf<Caller>();

expectTypeOf<HandlerResult<typeof createProfile>>().toEqualTypeOf<Profile>();
expectTypeOf<HandlerResult<typeof readFile>>().toEqualTypeOf<BytesReply>();
expectTypeOf<HandlerResult<typeof watchEvents>>().toEqualTypeOf<AsyncIterable<StreamFrame<FileSystemEvent>>>();
expectTypeOf<() => undefined>().toExtend<Handler<typeof deleteProfile>>();
expectTypeOf<() => { id: string }>().not.toExtend<Handler<typeof createProfile>>();

type Needed = Handlers<Pick<typeof contract, "createProfile" | "deleteProfile">>;
declare const create: Needed["createProfile"];
declare const remove: Needed["deleteProfile"];
({ createProfile: create, deleteProfile: remove }) satisfies Needed;
// @ts-expect-error deleteProfile is missing
({ createProfile: create }) satisfies Needed;

const common = { area: "Test", plane: "control", method: "GET", summary: "Test.", errors: [500] } as const;
export const lease = defineEndpoint({
  ...common,
  operationId: "a",
  path: "/a",
  responses: { 200: json(z.string()), 204: empty },
});
export const film = defineEndpoint({
  ...common,
  operationId: "b",
  path: "/b",
  responses: { 200: bytes("video/mp4"), 202: empty },
});
export const log = defineEndpoint({
  ...common,
  operationId: "c",
  path: "/c",
  responses: { 200: tokenPage(z.string()) },
});
expectTypeOf<HandlerResult<typeof lease>>().toEqualTypeOf<
  string | undefined | void | StatusReply<200, string> | StatusReply<204, undefined | void>
>();
expectTypeOf<HandlerResult<typeof log>>().toEqualTypeOf<TokenPage<string>>();
(() => withStatus(202, undefined, { retryAfterSeconds: 5 })) satisfies Handler<typeof film>;
// @ts-expect-error not a declared status
(() => withStatus(201, undefined)) satisfies Handler<typeof film>;
// @ts-expect-error the wrong value for this status
(() => withStatus(200, 7)) satisfies Handler<typeof lease>;

type Some = Pick<typeof contract, "createProfile" | "deleteProfile">;
({ createProfile: create }) satisfies HandlersOrNotYet<Some, "deleteProfile">;
// @ts-expect-error deleteProfile is missing
({ createProfile: create }) satisfies HandlersOrNotYet<Some, never>;
// @ts-expect-error deleteProfile has a handler and is listed as not implemented
({ createProfile: create, deleteProfile: remove }) satisfies HandlersOrNotYet<Some, "deleteProfile">;
