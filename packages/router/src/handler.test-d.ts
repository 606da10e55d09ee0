import type { contract, createProfile, deleteProfile, listProfiles, readFile, uploadZip, watchEvents, writeFile } from "@shoal/contract";
import type { FileSystemEvent, Profile } from "@shoal/schemas";
import type { Readable } from "node:stream";
import { expectTypeOf } from "vitest";
import type { BytesReply, Handler, HandlerCall, HandlerResult, Handlers, MultipartPart, StreamFrame } from "./index.ts";

interface Caller {
  readonly key: string;
}

// What handlers receive.
expectTypeOf<HandlerCall<typeof createProfile>["body"]>().toEqualTypeOf<{ name?: string | undefined }>();
expectTypeOf<HandlerCall<typeof listProfiles>["query"]["limit"]>().toEqualTypeOf<number>();
expectTypeOf<HandlerCall<typeof writeFile>["body"]>().toEqualTypeOf<Readable>();
expectTypeOf<HandlerCall<typeof uploadZip>["body"]>().toEqualTypeOf<AsyncIterable<MultipartPart>>();
expectTypeOf<HandlerCall<typeof listProfiles>["body"]>().toEqualTypeOf<undefined>();
expectTypeOf<HandlerCall<typeof listProfiles, Caller>["context"]>().toEqualTypeOf<Caller>();

// What they give.
expectTypeOf<HandlerResult<typeof createProfile>>().toEqualTypeOf<Profile>();
expectTypeOf<HandlerResult<typeof readFile>>().toEqualTypeOf<BytesReply>();
expectTypeOf<HandlerResult<typeof watchEvents>>().toEqualTypeOf<AsyncIterable<StreamFrame<FileSystemEvent>>>();
expectTypeOf<() => undefined>().toExtend<Handler<typeof deleteProfile>>();
expectTypeOf<() => { id: string }>().not.toExtend<Handler<typeof createProfile>>();

// A forgotten handler does not compile.
type Needed = Handlers<Pick<typeof contract, "createProfile" | "deleteProfile">>;
declare const create: Needed["createProfile"];
declare const remove: Needed["deleteProfile"];
({ createProfile: create, deleteProfile: remove }) satisfies Needed;
// @ts-expect-error deleteProfile is missing
({ createProfile: create }) satisfies Needed;
