import { eventuallyPasses } from "@shoal/testkit";
import { request as httpRequest } from "node:http";
import { createInterface } from "node:readline";
import type { RunningInstance } from "../../../testing/run-instance.ts";

export interface LooseEvent {
  readonly type: string;
  readonly category: string;
  readonly ts: number;
  readonly truncated?: boolean;
  readonly data?: Readonly<Record<string, unknown>>;
}

export interface FollowedTelemetry {
  readonly envelopes: readonly { readonly seq: number; readonly event: LooseEvent }[];
  of(type: string): LooseEvent[];
  /** Waits for an event of a kind whose data has these values. */
  wait(type: string, data?: Readonly<Record<string, unknown>>): Promise<LooseEvent>;
  readonly ended: Promise<void>;
}

export function followTelemetry(instance: RunningInstance, after = 0): FollowedTelemetry {
  const envelopes: { seq: number; event: LooseEvent }[] = [];
  const ended = Promise.withResolvers<undefined>();
  const request = httpRequest(
    { socketPath: instance.config.listen_path, path: `/_instance/telemetry?after=${String(after)}` },
    (response) => {
      response.on("error", () => undefined);
      createInterface(response)
        .on("line", (line) => envelopes.push(JSON.parse(line) as { seq: number; event: LooseEvent }))
        .on("close", () => {
          ended.resolve(undefined);
        })
        .on("error", () => undefined);
    },
  );
  request.on("error", () => undefined);
  request.end();
  const of = (type: string) => envelopes.map(({ event }) => event).filter((event) => event.type === type);
  return {
    envelopes,
    of,
    ended: ended.promise,
    wait: (type, data = {}) =>
      eventuallyPasses(() => {
        const found = of(type).find((event) =>
          Object.entries(data).every(([name, value]) =>
            value instanceof RegExp ? value.test(String(event.data?.[name])) : event.data?.[name] === value,
          ),
        );
        if (found === undefined)
          throw new Error(
            `No ${type} with ${JSON.stringify(data)} among ${JSON.stringify(envelopes.map(({ event }) => event.type))}: ${JSON.stringify(of(type)).slice(0, 2000)}`,
          );
        return found;
      }),
  };
}
