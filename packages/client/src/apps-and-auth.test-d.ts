import type {
  AuthConnection,
  CreatedInvocation,
  Deployment,
  DeploymentEvent,
  Invocation,
  ManagedAuthEvent,
} from "@shoal/schemas";
import type { EventStream, ItemPage } from "@shoal/transport";
import { expectTypeOf } from "vitest";
import type { Shoal } from "./index.ts";

declare const shoal: Shoal;
declare const stream: ReadableStream<Uint8Array>;

expectTypeOf(
  shoal.deployments.create({ file: stream, entrypoint_rel_path: "index.ts", env_vars: { A: "1" } }),
).resolves.toEqualTypeOf<Deployment>();
expectTypeOf(
  shoal.deployments.create({ source: { type: "github", url: "u", ref: "main", entrypoint: "index.ts" } }),
).resolves.toEqualTypeOf<Deployment>();
expectTypeOf(shoal.deployments.follow("d", { since: "5m" })).toEqualTypeOf<EventStream<DeploymentEvent>>();
expectTypeOf(
  shoal.deployments.wait("d", {
    onEvent: (event) => {
      expectTypeOf(event).toEqualTypeOf<DeploymentEvent>();
    },
  }),
).resolves.toEqualTypeOf<Deployment>();
expectTypeOf(shoal.invocations.create({ app_name: "a", action_name: "b" })).resolves.toEqualTypeOf<CreatedInvocation>();
expectTypeOf(shoal.invocations.wait("i")).resolves.toEqualTypeOf<Invocation>();
expectTypeOf(shoal.auth.connections.list()).resolves.toEqualTypeOf<ItemPage<AuthConnection>>();
expectTypeOf(shoal.auth.connections.follow("c")).toEqualTypeOf<EventStream<ManagedAuthEvent>>();

declare const event: DeploymentEvent;
if (event.event === "app_version_summary") expectTypeOf(event.actions[0]?.name).toEqualTypeOf<string | undefined>();

// @ts-expect-error app_name is required
void shoal.invocations.create({ action_name: "b" });
// @ts-expect-error not a final status
void shoal.invocations.update("i", { status: "running" });
// @ts-expect-error values must be strings
void shoal.credentials.create({ name: "n", domain: "example.com", values: { age: 7 } });
// @ts-expect-error unknown source type
void shoal.deployments.create({ source: { type: "gitlab", url: "u", ref: "main", entrypoint: "index.ts" } });
