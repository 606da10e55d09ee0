export { createFakeShoal, type FakeCaller, type FakeShoal, type OperationId } from "./create-fake-shoal.ts";
export type { FakeCall } from "./calls.ts";
export type { Fault } from "./faults.ts";
export type { FakeListener, ListenOptions } from "./listen.ts";
