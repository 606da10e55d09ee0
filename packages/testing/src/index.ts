export { createFakeShoal, type FakeCaller, type FakeShoal, type OperationId } from "./create-fake-shoal.ts";
export type { FakeCall } from "./calls.ts";
export type { FakeAction, FakeInvocation } from "./state/apps.ts";
export type { FakeAnswer, FakeField, FakeLogin, FakeProviderItem, FakeQuestion, FakeSite } from "./state/logins.ts";
export type { Fault } from "./faults.ts";
export type { FakeListener, ListenOptions } from "./listen.ts";
