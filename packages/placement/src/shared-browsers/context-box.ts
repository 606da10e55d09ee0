import { instanceControl } from "@shoal/instance";
import pTimeout from "p-timeout";
import type { IncomingMessage } from "node:http";
import { PassThrough, type Readable } from "node:stream";
import type { Box, Exit } from "../boxes/box.ts";
import type { SharedPlace } from "../boxes/shared-place.ts";
import { callInstance } from "../instances/call-instance.ts";
import type { InstanceHandle } from "../instances/instance-handle.ts";
import type { EgressControls } from "../interface/egress.ts";
import { PlacementError } from "../interface/placement-error.ts";

export interface ContextBoxParts {
  readonly host: InstanceHandle;
  readonly place: SharedPlace;
  /** The session's output, which ends when nothing of it is left. */
  readonly output: IncomingMessage;
}

/** A browser context and its files take a tenth of a second. */
const stopMs = 10_000;

/** A session in the box of another instance, whose browser it shares. */
export class ContextBox implements Box {
  readonly id: string;
  readonly pid = undefined;
  readonly stdout: Readable;
  readonly stderr: Readable = new PassThrough().end();
  readonly gone: Promise<Exit>;
  readonly egress: EgressControls;
  readonly asksToEnd = false;
  readonly #parts: ContextBoxParts;
  #isKilled = false;

  constructor(id: string, parts: ContextBoxParts) {
    const { host, output, place } = parts;
    this.id = id;
    this.#parts = parts;
    this.egress = place.egress;
    this.stdout = output;
    // Its end is reported by `close`.
    output.on("error", () => undefined);
    const closed = new Promise<Exit>((resolve) => {
      output.once("close", () => {
        resolve({ code: 0, signal: null });
      });
    });
    const lost: Exit = { code: null, signal: null, reason: "The shared browser of the session has ended." };
    this.gone = Promise.race([closed, host.ended.then(() => lost)]);
    void host.ended.then(() => output.destroy());
  }

  kill(): void {
    if (this.#isKilled) return;
    this.#isKilled = true;
    void this.#stop();
  }

  reach(): Promise<string> {
    return this.#parts.place.reach();
  }

  async setPolicies(): Promise<never> {
    throw unavailable("policies", "the browser reads them for all its sessions");
  }

  async setMemory(): Promise<never> {
    throw unavailable("memory", "the limit applies to the whole browser");
  }

  clear(): Promise<void> {
    return this.#parts.place.clear();
  }

  /** A shared browser that does not end a session is ended with all its sessions. */
  async #stop(): Promise<void> {
    const { host, output } = this.#parts;
    try {
      const stopped = callInstance(host, instanceControl.stopContext, { params: { id: this.id } });
      await pTimeout(stopped, { milliseconds: stopMs });
    } catch {
      await host.stop();
    }
    output.destroy();
  }
}

function unavailable(field: string, reason: string): PlacementError {
  return new PlacementError("bad_option", `${field}: not available with isolation: "context", because ${reason}.`);
}
