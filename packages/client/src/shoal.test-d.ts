import type { Browser, FileSystemEvent, Profile } from "@shoal/schemas";
import type { EventStream, ItemPage } from "@shoal/transport";
import { expectTypeOf } from "vitest";
import type { BrowserSession, Shoal } from "./index.ts";

declare const shoal: Shoal;

expectTypeOf(shoal.profiles.get("p")).resolves.toEqualTypeOf<Profile>();
expectTypeOf(shoal.profiles.list()).resolves.toEqualTypeOf<ItemPage<Profile>>();
expectTypeOf(shoal.browsers.create()).resolves.toEqualTypeOf<BrowserSession>();
expectTypeOf<BrowserSession>().toExtend<Browser & AsyncDisposable>();
expectTypeOf(shoal.browsers.fs.watch.events("b", "w")).toEqualTypeOf<EventStream<FileSystemEvent>>();

// @ts-expect-error names are strings
void shoal.profiles.update("p", { name: 7 });
// @ts-expect-error unknown field
void shoal.browsers.create({ timeout: 5 });
// @ts-expect-error unknown sort order
void shoal.apiKeys.list({ sort_by: "colour" });
// @ts-expect-error `path` is required
void shoal.browsers.fs.writeFile("b", "text", {});
// @ts-expect-error `file` is required
void shoal.browsers.fs.upload("b", { files: [{ dest_path: "/a" }] });
// @ts-expect-error ids are strings
void shoal.browsers.get(7);
