import type { Change } from "@shoal/database";
import type { FastifyInstance } from "fastify";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Entering } from "./entering.ts";

/** One part of the service, in one folder. The server is a list of them, and stops them in reverse order. */
export interface Feature {
  /** What other features use of it. */
  readonly provides?: unknown;
  /** Answers to operations, by name, for callers with a key. */
  readonly handlers?: object;
  /** Answers to operations without authentication, by name. */
  readonly openHandlers?: object;
  /** Adds hooks, sockets, and routes outside the contract. */
  readonly serve?: (app: FastifyInstance, entering: Entering) => void;
  /** Called when a row of a table changed; without an id, any row may have changed. */
  readonly changes?: Readonly<Partial<Record<Change["table"], (id: string | undefined) => void>>>;
  readonly requestEnded?: (request: IncomingMessage, response: ServerResponse, durationMs: number) => void;
  /** Every hour, on one of the servers. */
  readonly jobs?: readonly Job[];
  /** Every hour, on each server. */
  readonly sweeps?: readonly Sweep[];
  readonly gauges?: readonly Gauge[];
  /** Ends its work while the service still answers. */
  readonly stop?: () => Promise<unknown>;
}

export interface Job {
  readonly name: string;
  readonly run: () => Promise<unknown>;
}

export interface Sweep {
  readonly run: () => Promise<unknown>;
  /** For the log. */
  readonly problem: string;
}

/** A metric that is read when the metrics are. */
export interface Gauge {
  readonly name: string;
  readonly help: string;
  readonly read: () => number;
}
