import type { AuditLogEntry, AuthContext, BrowserPool, Project } from "@shoal/schemas";
import type { Download, ItemPage } from "@shoal/transport";
import { expectTypeOf } from "vitest";
import type { BrowserLease, Shoal } from "./index.ts";

declare const shoal: Shoal;
declare const seconds: number;

// Without a timeout, `acquire` always returns a browser.
expectTypeOf(shoal.browserPools.acquire("p")).resolves.toEqualTypeOf<BrowserLease>();
expectTypeOf(shoal.browserPools.acquire("p", { name: "n" }, { reuse: false })).resolves.toEqualTypeOf<BrowserLease>();
expectTypeOf(shoal.browserPools.acquire("p", { acquire_timeout_seconds: seconds })).resolves.toEqualTypeOf<
  BrowserLease | undefined
>();
expectTypeOf(shoal.browserPools.get("p")).resolves.toEqualTypeOf<BrowserPool>();
expectTypeOf(shoal.profiles.download("p")).resolves.toEqualTypeOf<Download | undefined>();
expectTypeOf(shoal.extensions.download("e")).resolves.toEqualTypeOf<Download>();
expectTypeOf(shoal.auditLogs.list({ start: "", end: "" })).resolves.toEqualTypeOf<ItemPage<AuditLogEntry>>();
expectTypeOf(shoal.auditLogs.download({ start: "", end: "" })).toEqualTypeOf<ReadableStream<Uint8Array<ArrayBuffer>>>();
expectTypeOf(shoal.auth.context.get()).resolves.toEqualTypeOf<AuthContext>();
expectTypeOf(shoal.projects.list()).resolves.toEqualTypeOf<ItemPage<Project>>();

// @ts-expect-error `end` is required
void shoal.auditLogs.list({ start: "" });
// @ts-expect-error `port` is required
void shoal.proxies.create({ type: "custom", config: { host: "h" } });
// @ts-expect-error unknown proxy type
void shoal.proxies.create({ type: "magic" });
// @ts-expect-error `file` is required
void shoal.extensions.upload({ name: "n" });
// @ts-expect-error `size` is required
void shoal.browserPools.create({ name: "n" });
// @ts-expect-error projects can be archived, but `deleted` is not a status
void shoal.projects.update("p", { status: "deleted" });
