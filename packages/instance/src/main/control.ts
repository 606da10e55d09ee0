import type { Endpoint } from "@shoal/contract";
import { messageOf } from "@shoal/primitives";
import type { IncomingMessage, ServerResponse } from "node:http";
import { readBody, refuse, reply, type Refusal } from "../http/replies.ts";
import type { instanceControl } from "../protocol/endpoints.ts";
import type { AssignInstance, RestQuestion, RestReport } from "../protocol/protocol.ts";
import { log } from "../system/log.ts";
import type { EventFeed } from "./event-feed.ts";

/** The service never forwards a client's request to these paths. */
export const controlPrefix = "/_instance/";

/**
 * Answered without the router and zod (17 ms of CPU, 5 MB per instance), and not validated: only the service and the
 * session itself reach the socket.
 */
export type QuickEndpoint = "followEvents" | "assign" | "stop" | "reportRest";

type RouteOf<E extends Endpoint> = `${E["method"]} ${E["path"]}`;
type Answer = (request: IncomingMessage, response: ServerResponse) => void;

interface ControlOptions {
  readonly feed: EventFeed;
  readonly assign: (assign: AssignInstance) => Promise<Refusal | undefined>;
  readonly stop: () => void;
  readonly reportRest: (question: RestQuestion) => Promise<RestReport>;
  readonly loadRouter: () => Promise<Answer>;
}

/** 64 KiB of certificates, whose line breaks take two bytes each in JSON, and a page's address. */
const maxBodyBytes = 131_072;

export function createControl({ feed, assign, stop, reportRest, loadRouter }: ControlOptions): Answer {
  const quick: { readonly [Name in QuickEndpoint as RouteOf<(typeof instanceControl)[Name]>]: Answer } = {
    "GET /_instance/events": (_request, response) => {
      feed.follow(response);
    },
    "POST /_instance/assign": (request, response) => {
      void takeAssign(request, response);
    },
    "POST /_instance/rest": (request, response) => {
      answerRest(request).then(
        (report) => {
          reply(response, 200, report);
        },
        () => response.destroy(),
      );
    },
    "POST /_instance/stop": (request, response) => {
      request.resume();
      response.on("close", stop);
      reply(response, 204);
    },
  };
  const answers = new Map<string, Answer>(Object.entries(quick));

  async function answerRest(request: IncomingMessage): Promise<RestReport> {
    const body = await readBody(request, maxBodyBytes);
    return reportRest(JSON.parse(String(body)) as RestQuestion);
  }

  async function takeAssign(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request, maxBodyBytes);
    const refusal =
      body === undefined
        ? { status: 413, code: "payload_too_large", message: `body: must be at most ${String(maxBodyBytes)} bytes` }
        : await assignFrom(body.toString());
    if (refusal === undefined) reply(response, 200);
    else refuse(response, refusal);
  }

  async function assignFrom(text: string): Promise<Refusal | undefined> {
    // A rehearsal: it loads the code and keeps the connection, so that the assignment takes half the time.
    if (text === "") return undefined;
    let request: AssignInstance;
    try {
      request = JSON.parse(text) as AssignInstance;
    } catch {
      return { status: 400, code: "bad_request", message: "body: must be JSON" };
    }
    try {
      return await assign(request);
    } catch (error) {
      log("error", "an assignment failed", { error: messageOf(error) });
      return { status: 503, code: "browser_not_running", message: messageOf(error) };
    }
  }

  return (request, response) => {
    const quickAnswer = answers.get(`${request.method ?? ""} ${request.url ?? ""}`);
    if (quickAnswer !== undefined) {
      quickAnswer(request, response);
      return;
    }
    loadRouter().then(
      (answer) => {
        answer(request, response);
      },
      (error: unknown) => {
        log("error", "the control endpoints could not be loaded", { error: messageOf(error) });
        response.destroy();
      },
    );
  };
}
