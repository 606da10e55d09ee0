import { messageOf } from "@shoal/primitives";
import { type IncomingHttpHeaders, type IncomingMessage, request as httpRequest } from "node:http";
import { pipeline, type Readable, Transform } from "node:stream";
import { DriverDoor, type DriverDoorOptions } from "./driver-door.ts";
import {
  driverAdvice,
  DriverProblem,
  type DriverProcess,
  type DriverProcessOptions,
  startDriver,
} from "./driver-process.ts";

/** Of the answer to a new session. */
const maxSessionBytes = 262_144;

export interface DriverSessionOptions extends DriverDoorOptions, Omit<DriverProcessOptions, "onExit"> {
  /** Called once, when the driver or its connection has ended. */
  readonly onEnd: () => void;
}

export interface DriverCommand {
  readonly method: string;
  /** Below the path of its session, with a slash; empty for the session itself. */
  readonly path: string;
  readonly headers: Pick<IncomingHttpHeaders, "content-length" | "content-type">;
  readonly body: Readable | undefined;
  readonly signal: AbortSignal;
}

/** One driver with one session of it, attached to the browser of this session. */
export class DriverSession {
  /** As the driver answered, without its session id. */
  readonly capabilities: object;
  readonly #process: DriverProcess;
  readonly #door: DriverDoor;
  readonly #id: string;

  private constructor(process: DriverProcess, door: DriverDoor, { capabilities, id }: Created) {
    this.#process = process;
    this.#door = door;
    this.#id = id;
    this.capabilities = capabilities;
  }

  /** @throws {DriverProblem} */
  static async start(options: DriverSessionOptions, capabilities: object): Promise<DriverSession> {
    const door = new DriverDoor(options);
    const onExit = (): void => {
      door.close();
      options.onEnd();
    };
    await door.open();
    let driver: DriverProcess | undefined;
    try {
      driver = await startDriver({ ...options, onExit });
      return new DriverSession(driver, door, await create(driver, door.address, capabilities));
    } catch (error) {
      driver?.kill();
      door.close();
      throw error instanceof DriverProblem ? error : new DriverProblem(messageOf(error));
    }
  }

  get version(): string {
    return this.#process.version;
  }

  send({ path, ...command }: DriverCommand): Promise<IncomingMessage> {
    return ask(this.#process.port, { ...command, path: `/session/${this.#id}${path}` });
  }

  end(): void {
    this.#process.kill();
    this.#door.close();
  }
}

interface Created {
  readonly id: string;
  readonly capabilities: object;
}

async function create({ port }: DriverProcess, address: string, asked: object): Promise<Created> {
  const { "goog:chromeOptions": options, ...rest } = asked as { readonly "goog:chromeOptions"?: object };
  const alwaysMatch = { ...rest, "goog:chromeOptions": { ...options, debuggerAddress: address } };
  const body = Buffer.from(JSON.stringify({ capabilities: { alwaysMatch } }));
  const headers = { "content-type": "application/json", "content-length": String(body.length) };
  const signal = AbortSignal.timeout(60_000);
  const answer = await ask(port, { method: "POST", path: "/session", headers, body, signal });
  const chunks: Buffer[] = [];
  for await (const chunk of atMost(answer, maxSessionBytes) as AsyncIterable<Buffer>) chunks.push(chunk);
  const document: unknown = JSON.parse(Buffer.concat(chunks).toString());
  const { value } = document as { readonly value: Readonly<Record<string, unknown>> };
  const { capabilities, message, sessionId } = value;
  if (typeof sessionId === "string" && /^\w{1,64}$/.test(sessionId) && typeof capabilities === "object")
    return { id: sessionId, capabilities: capabilities ?? {} };
  if (typeof message !== "string") throw new DriverProblem("chromedriver answered without a session.");
  const isOtherVersion = message.includes("only supports");
  throw new DriverProblem(`${message.slice(0, 1000)}${isOtherVersion ? ` ${driverAdvice}` : ""}`);
}

type Ask = Omit<DriverCommand, "body"> & { readonly body: Readable | Buffer | undefined };

function ask(port: number, { body, ...init }: Ask): Promise<IncomingMessage> {
  const { promise, reject, resolve } = Promise.withResolvers<IncomingMessage>();
  // Without reuse: the driver may close a kept connection at the moment of the next command.
  const request = httpRequest({ host: "127.0.0.1", port, agent: false, ...init }, resolve).on("error", reject);
  if (body === undefined || Buffer.isBuffer(body)) request.end(body);
  else
    pipeline(body, request, (error) => {
      if (error) reject(error);
    });
  return promise;
}

/** Passes bytes on, and fails beyond `maxBytes`. */
export function atMost(source: Readable, maxBytes: number): Readable {
  let bytes = 0;
  const limited = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > maxBytes) done(new Error(`more than ${String(maxBytes)} bytes`));
      else done(null, chunk);
    },
  });
  return pipeline(source, limited, () => undefined);
}
