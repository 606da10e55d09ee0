import { HostedExit, type StartHosted } from "@shoal/instance";
import { packFolder } from "@shoal/primitives/archive";
import type { Dial } from "../boxes/box.ts";
import { answerOf } from "../instances/instance-answer.ts";
import { createInstanceAgent } from "../instances/instance-connection.ts";
import type { ProgramExit, ProgramFolder } from "../interface/program.ts";
import { answerJson, answerText } from "../streams/answer-text.ts";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { type Agent, type IncomingMessage, request as httpRequest } from "node:http";
import { constants } from "node:os";
import { type Duplex, PassThrough, type Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

const headMs = 10_000;
const maxReasonCharacters = 500;
/** The answer to `/exit` ends with the program. */
const maxProgramMs = 2_147_483_647;

/** The service's side of a program that another machine hosts. Nothing that it answers is trusted. @see HostedProgramConfig */
export class HostedConnection {
  readonly #agent: Agent;

  constructor(dial: Dial) {
    this.#agent = createInstanceAgent(dial);
  }

  async copy({ from, isArchive }: ProgramFolder, to: string, signal: AbortSignal): Promise<void> {
    const isFolder = (await stat(from)).isDirectory();
    const as = isFolder ? "folder" : isArchive === true ? "archive" : "file";
    const query = new URLSearchParams({ to, as }).toString();
    const outgoing = httpRequest({ agent: this.#agent, method: "PUT", path: `/files?${query}`, signal });
    const answering = answerOf(outgoing, headMs);
    const content = isFolder ? packFolder(from) : createReadStream(from);
    // The answer explains an error of the other side better.
    const [sent, answer] = await Promise.allSettled([pipeline(content, outgoing), answering]);
    if (answer.status === "rejected") throw answer.reason;
    await accepted(answer.value);
    if (sent.status === "rejected") throw sent.reason;
  }

  async start(command: StartHosted, signal: AbortSignal): Promise<void> {
    const outgoing = httpRequest({ agent: this.#agent, method: "POST", path: "/start", signal });
    outgoing.end(JSON.stringify(command));
    await accepted(await answerOf(outgoing, headMs));
  }

  /** What the program prints. A lost connection is an end. */
  async output(name: "stderr" | "stdout"): Promise<Readable> {
    const answer = await this.#get(`/${name}`);
    const output = new PassThrough();
    answer.on("error", () => undefined);
    answer.on("close", () => output.end());
    return answer.pipe(output);
  }

  /** @returns `undefined` if the connection is lost. */
  async exit(): Promise<ProgramExit | undefined> {
    try {
      const { code, signal } = HostedExit.parse(await answerJson(await this.#get("/exit"), { ms: maxProgramMs }));
      return { code, signal: signal !== null && isSignal(signal) ? signal : null };
    } catch {
      return undefined;
    }
  }

  channel(signal: AbortSignal): Promise<Duplex> {
    return new Promise((resolve, reject) => {
      const headers = { connection: "upgrade", upgrade: "shoal-channel" };
      const outgoing = httpRequest({ agent: this.#agent, path: "/channel", headers, signal });
      outgoing.once("upgrade", (_answer, socket, head) => {
        socket.on("error", () => undefined);
        socket.unshift(head);
        resolve(socket);
      });
      outgoing.once("response", () => {
        outgoing.destroy(new Error("it opened no channel"));
      });
      outgoing.once("error", reject);
      outgoing.end();
    });
  }

  close(): void {
    this.#agent.destroy();
  }

  #get(path: string): Promise<IncomingMessage> {
    const outgoing = httpRequest({ agent: this.#agent, path });
    outgoing.end();
    return answerOf(outgoing, headMs);
  }
}

async function accepted(answer: IncomingMessage): Promise<void> {
  const text = await answerText(answer);
  if (answer.statusCode === 204) return;
  throw new Error(`The host of a program answered ${String(answer.statusCode)}: ${text.slice(0, maxReasonCharacters)}`);
}

function isSignal(name: string): name is NodeJS.Signals {
  return Object.hasOwn(constants.signals, name);
}
