export { type FakeOptions, FakeShoal, type OperationId, startFakeShoal } from "./start-fake-shoal.ts";
export type { FakeCall } from "./front/calls.ts";
export type { FakeCaller } from "./front/own-operations.ts";
export type { FakeAction, FakeInvocation } from "./scripts/scripted-apps.ts";
export type { FakeProviderItem } from "./scripts/scripted-stores.ts";
export type { FakeAnswer, FakeField, FakeLogin, FakeQuestion, FakeSite } from "./scripts/sites.ts";
export type { Fault } from "./front/faults.ts";
