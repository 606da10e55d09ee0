export { type FakeOptions, FakeShoal, type OperationId, startFakeShoal } from "./start-fake-shoal.ts";
export type { FakeCall } from "./front/calls.ts";
export type { FakeCaller } from "./front/caller.ts";
export type { FakeAction, FakeInvocation } from "./scripts/actions.ts";
export type { FakeProviderItem } from "./scripts/provider-item.ts";
export type { FakeAnswer, FakeField, FakeLogin, FakeQuestion, FakeSite } from "./scripts/sites.ts";
export type { Fault } from "./front/faults.ts";
