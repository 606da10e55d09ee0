import type { Endpoint } from "@shoal/contract";
import type { FastifyRequest } from "fastify";
import type { IncomingMessage } from "node:http";
import type { Access, AuthenticateOptions } from "../http/auth/access.ts";

/** Admits requests to routes. */
export interface Entering {
  /** Requires an API key, or the session of a person. @throws {ServiceError} */
  authenticate(request: FastifyRequest, options?: AuthenticateOptions): Access | Promise<Access>;
  /** Authenticates the caller and, for audited operations, records it. @throws {ServiceError} */
  enter(request: FastifyRequest, endpoint: Endpoint): Access | Promise<Access>;
  /** Requires an API key, for an operation outside the contract, and records it. @throws {ServiceError} */
  enterKeyed(request: FastifyRequest, endpoint: Endpoint): Access | Promise<Access>;
  /** For a caller that signs in: its credentials are in the body. Counts and records it. @throws {ServiceError} 429. */
  enterAs(request: FastifyRequest, endpoint: Endpoint, access: Access): void;
  /** @throws {ServiceError} 503 while the server stops or is overloaded. */
  admitWork(request: FastifyRequest): void;
  countRefused(request: IncomingMessage): void;
}
