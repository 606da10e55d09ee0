import type { IncomingMessage, ServerResponse } from "node:http";
import type { AssignInstance, ChangeViewport, ViewportChanged } from "../protocol.ts";
import type { EventFeed } from "./event-feed.ts";
import { readPlainAssign } from "./plain-assign.ts";
import { readBody, refuse, reply, type Refusal } from "./replies.ts";

/** Paths below this one are the control channel; the service never forwards a client to it. */
export const controlPrefix = "/_instance/";

export interface ControlOptions {
  readonly feed: EventFeed;
  /** Hands the instance to a session. @returns why it cannot be. */
  readonly assign: (assign: AssignInstance) => Refusal | undefined | Promise<Refusal | undefined>;
  /** Sizes its pages, or its screen. @returns why not. */
  readonly changeViewport: (change: ChangeViewport) => Promise<Refusal | ViewportChanged>;
  /** Answers a request to `telemetry`. */
  readonly telemetry: (request: IncomingMessage, response: ServerResponse) => void;
  /** Answers with a recording as its file grows, to its end. */
  readonly replay: (id: string, response: ServerResponse) => void;
  /** Answers a request for what the browser keeps: an archive of it, one of what it left at its end, or its replacement. */
  readonly profile: (what: "save" | "saveAtEnd" | "load", request: IncomingMessage, response: ServerResponse) => void;
  /** Has the browser read its policies again, which are of that revision now. @returns why it could not. */
  readonly policies: (revision: string) => Promise<Refusal | undefined>;
  /** Called when the answer to `stop` was sent. */
  readonly stop: () => void;
}

/** 64 KiB of certificates, whose line breaks take two bytes each in JSON, and an address of a page. */
const maxBodyBytes = 131_072;

/** Answers a request to the control channel; never throws. */
export type ControlChannel = (request: IncomingMessage, response: ServerResponse, path: string) => void;

export function createControlChannel({ feed, assign, changeViewport, telemetry, replay, profile, policies, stop }: ControlOptions): ControlChannel {
  async function readText(request: IncomingMessage, response: ServerResponse): Promise<string | undefined> {
    const body = await readBody(request, maxBodyBytes);
    if (body === undefined) refuse(response, { status: 413, code: "payload_too_large", message: `body: at most ${String(maxBodyBytes)} bytes` });
    return body?.toString();
  }

  async function takeViewport(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await readText(request, response);
    if (text === undefined) return;
    const read = (await import("./read-assign.ts")).readViewportChange(text);
    const changed = "problem" in read ? { status: 400, code: "bad_request", message: read.problem } : await changeViewport(read.change);
    if ("replays" in changed) reply(response, 200, changed);
    else refuse(response, changed);
  }

  async function takePolicies(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await readBody(request, maxBodyBytes))?.toString();
    if (body === undefined || !/^[0-9a-f]{1,64}$/.test(body)) {
      refuse(response, { status: 400, code: "bad_request", message: "body: expected a revision, 1 to 64 hexadecimal digits" });
      return;
    }
    const refusal = await policies(body);
    if (refusal === undefined) reply(response, 204);
    else refuse(response, refusal);
  }

  async function takeAssign(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await readText(request, response);
    if (text === undefined) return;
    const plain = readPlainAssign(text);
    // Loaded here: the schemas cost more than the rest of the program, and its start counts.
    const read = plain === undefined ? (await import("./read-assign.ts")).readAssign(text) : { assign: plain };
    const refusal = "problem" in read ? { status: 400, code: "bad_request", message: read.problem } : await assign(read.assign);
    if (refusal === undefined) reply(response, 200, {});
    else refuse(response, refusal);
  }

  return (request, response, path) => {
    const replayId = request.method === "GET" ? /^replays\/([0-9a-f]{1,64})$/.exec(path.slice(controlPrefix.length))?.[1] : undefined;
    if (replayId !== undefined) {
      replay(replayId, response);
      return;
    }
    switch (`${request.method ?? ""} ${path.slice(controlPrefix.length)}`) {
      case "GET events":
        feed.follow(response);
        return;
      case "POST assign":
        void takeAssign(request, response);
        return;
      case "POST viewport":
        void takeViewport(request, response);
        return;
      case "GET telemetry":
      case "POST telemetry":
        telemetry(request, response);
        return;
      case "GET profile":
        profile("save", request, response);
        return;
      case "POST profile/final":
        profile("saveAtEnd", request, response);
        return;
      case "PUT profile":
        profile("load", request, response);
        return;
      case "POST policies":
        void takePolicies(request, response);
        return;
      case "POST stop":
        request.resume();
        response.on("close", stop);
        reply(response, 204);
        return;
      default:
        refuse(response, { status: 404, code: "not_found", message: `There is no ${request.method ?? ""} ${path.slice(0, 200)}.` });
    }
  };
}
