import { type Described, type FromBox, maxFrameBytes } from "@shoal/app-runner";
import type { ProgramBox, ProgramExit } from "@shoal/placement";
import { messageOf } from "@shoal/primitives";
import pTimeout from "p-timeout";
import { type AppCall, type AppOutput, type AppProgram, type AppResult, AppStartError } from "./app-runtime.ts";
import { BoxChannel, ChannelFailure, readMessage } from "./box-channel.ts";
import type { CompiledCode } from "./compiled-code.ts";
import { followLines } from "./lines.ts";

/** Milliseconds from the result to the end of the program: its last lines may be slow. */
const lastLinesMs = 30_000;
/** Milliseconds from the end of the channel to that of the program. */
const closedMs = 2_000;
const keptCharacters = 500;

/** Two starts of one service's addresses, with no slash at the end. */
export interface ServiceAddresses {
  /** Leads to the service in the box alone. */
  readonly inside: string;
  readonly outside: string;
}

/** A program in a box, from its start to its end. */
export class RunningApp implements AppProgram {
  readonly ended: Promise<void>;
  readonly #box: ProgramBox;
  readonly #addresses: ServiceAddresses | undefined;
  readonly #channel: BoxChannel;
  readonly #lines: Promise<unknown>;
  #lastError = "";
  #isUsed = false;

  /** @param life - `addresses`: outputs get the outer address in place of the inner one. */
  constructor(
    box: ProgramBox,
    on: AppOutput,
    life: { readonly addresses: ServiceAddresses | undefined; readonly onEnd: () => void },
  ) {
    this.#box = box;
    this.#addresses = life.addresses;
    this.#channel = new BoxChannel(box.channel);
    this.#lines = Promise.all([
      followLines(box.stdout, (text) => {
        on.line({ source: "stdout", text, at: new Date() });
      }),
      followLines(box.stderr, (text) => {
        if (text !== "") this.#lastError = text.slice(0, keptCharacters);
        on.line({ source: "stderr", text, at: new Date() });
      }),
    ]);
    this.ended = box.ended.then(life.onEnd);
  }

  /**
   * @param compiled - receives compiled code, if `serve` requests it.
   * @throws {AppStartError}; the caller then stops the program.
   */
  async begin(serve: object, compiled?: CompiledCode): Promise<Described> {
    this.#channel.send(serve);
    const first = await this.#first(compiled).catch((error: unknown) => {
      // Other errors name files of the host.
      throw error instanceof ChannelFailure ? new AppStartError(error.message, { cause: error }) : error;
    });
    if (first?.type === "ready") return first.apps;
    if (first?.type === "failed") {
      await this.#settle();
      throw new AppStartError(first.reason);
    }
    throw new AppStartError(this.#describeEnd(await this.#settle(closedMs), "before it had imported the entry"));
  }

  async invoke({ payload, ...call }: AppCall): Promise<AppResult> {
    if (this.#isUsed) throw new Error("A program runs one invocation; start another program.");
    this.#isUsed = true;
    this.#channel.send({ type: "invoke", ...call, has_payload: payload !== undefined });
    if (payload !== undefined) this.#channel.sendValue(payload);
    const result = await this.#result();
    await this.#settle();
    return result;
  }

  async stop(): Promise<void> {
    await this.#box.stop();
    await Promise.all([this.#lines, this.ended]);
  }

  /** @returns the first message after compiled code; `undefined` at the end. */
  async #first(compiled: CompiledCode | undefined): Promise<FromBox | undefined> {
    for (;;) {
      const frame = await this.#channel.next();
      if (frame === undefined) return undefined;
      if (frame.kind === "bytes" && compiled !== undefined) await compiled.write(frame.content);
      else {
        const message = readMessage(frame);
        if (message.type !== "compiled" || compiled === undefined) return message;
        await compiled.begin(message.name);
      }
    }
  }

  async #result(): Promise<AppResult> {
    let output: string | undefined;
    try {
      for (let frame = await this.#channel.next(); frame !== undefined; frame = await this.#channel.next()) {
        if (frame.kind === "value" && output === undefined) {
          output = frame.content.toString("utf8");
          continue;
        }
        const message = readMessage(frame);
        if (message.type !== "result") throw new ChannelFailure("The program sent an unexpected message.");
        return {
          status: message.status,
          ...(output !== undefined && { output: storable(this.#forCaller(output)) }),
          ...(message.status_reason !== undefined && { status_reason: message.status_reason }),
        };
      }
    } catch (error) {
      await this.#box.stop();
      return failed(messageOf(error));
    }
    return failed(this.#describeEnd(await this.#settle(closedMs), "before the action returned"));
  }

  /** Addresses of sessions that an app returns work for the caller of the action. */
  #forCaller(output: string): string {
    if (this.#addresses === undefined) return output;
    const translated = withOuterAddresses(output, this.#addresses);
    return translated.length > maxFrameBytes.value ? output : translated;
  }

  /** Waits for the end of the program and its last lines, then ends it. */
  async #settle(limitMs = lastLinesMs): Promise<ProgramExit> {
    const settled = Promise.all([this.#box.ended, this.#lines]);
    await pTimeout(settled, { milliseconds: limitMs, fallback: () => this.#box.stop() });
    const [exit] = await settled;
    return exit;
  }

  #describeEnd({ code, signal }: ProgramExit, when: string): string {
    const how = signal ?? (code === null ? "unknown" : `exit code ${String(code)}`);
    const killed = signal === "SIGKILL" || code === 137 ? " It was killed; perhaps it exceeded its memory limit." : "";
    const last = this.#lastError === "" ? "" : ` It printed last: ${this.#lastError}`;
    return `The program ended ${when} (${how}).${killed}${last}`;
  }
}

function failed(reason: string): AppResult {
  return { status: "failed", output: JSON.stringify({ error: reason }), status_reason: reason };
}

/** @param json - may contain addresses inside of others, as values of queries. */
export function withOuterAddresses(json: string, { inside, outside }: ServiceAddresses): string {
  let text = json;
  for (const scheme of ["http", "ws"])
    for (const write of [String, encodeURIComponent]) {
      const [from, to] = [inside, outside].map((url) => write(url.replace(/^http/, scheme)));
      // With another digit, it is another port.
      text = text.replaceAll(
        new RegExp(`${(from ?? "").replaceAll(/\W/g, String.raw`\$&`)}(?!\\d)`, "g"),
        () => to ?? "",
      );
    }
  return text;
}

/** PostgreSQL cannot store NUL; in JSON it can only be an escape. */
function storable(output: string): string {
  return output.length > maxFrameBytes.value ? "" : output.replaceAll("\0", "").toWellFormed();
}
