import type { CurlResult, ExecResult, ProcessStreamEvent, Replay, TelemetryEnvelope } from "@shoal/schemas";
import type { Download, EventStream, ItemPage } from "@shoal/transport";
import { expectTypeOf } from "vitest";
import type { ProcessOutput, Shoal, TelemetryEvent } from "../index.ts";

declare const shoal: Shoal;
declare const event: TelemetryEvent;

// oxlint-disable-next-line typescript/no-deprecated -- it stays for the wire
expectTypeOf(shoal.browsers.process.exec("b", { command: "ls" })).resolves.toEqualTypeOf<ExecResult>();
// oxlint-disable-next-line typescript/no-deprecated -- it stays for the wire
expectTypeOf(shoal.browsers.process.stdoutStream("b", "p")).toEqualTypeOf<EventStream<ProcessStreamEvent>>();
expectTypeOf(shoal.browsers.process.output("b", "p")).toEqualTypeOf<AsyncGenerator<ProcessOutput, undefined>>();
expectTypeOf(shoal.browsers.telemetry.stream("b")).toEqualTypeOf<EventStream<TelemetryEnvelope>>();
expectTypeOf(shoal.browsers.telemetry.events("b")).resolves.toEqualTypeOf<ItemPage<TelemetryEnvelope>>();
expectTypeOf(shoal.browsers.telemetry.lastPicture("b")).resolves.toEqualTypeOf<Download>();
expectTypeOf(shoal.browsers.replays.list("b")).resolves.toEqualTypeOf<Replay[]>();
// `download` waits for the file, so it never returns `undefined`.
expectTypeOf(shoal.browsers.replays.download("b", "r")).resolves.toEqualTypeOf<Download>();
expectTypeOf(shoal.browsers.curl("b", { url: "https://a.example" })).resolves.toEqualTypeOf<CurlResult>();
expectTypeOf(shoal.browsers.fetch("b", "https://a.example")).resolves.toEqualTypeOf<Response>();

if (event.type === "network_response") {
  expectTypeOf(event.category).toEqualTypeOf<"network">();
  expectTypeOf(event.data?.status).toEqualTypeOf<number | undefined>();
}

// @ts-expect-error `y` is required
void shoal.browsers.computer.clickMouse("b", { x: 1 });
// @ts-expect-error unknown action
void shoal.browsers.computer.batch("b", { actions: [{ type: "dance" }] });
// @ts-expect-error unsupported signal
void shoal.browsers.process.kill("b", "p", { signal: "STOP" });
// @ts-expect-error `source` is required
void shoal.browsers.logs.stream("b", { path: "/a" });
// @ts-expect-error unknown category
void shoal.browsers.telemetry.events("b", { category: ["weather"] });
