import { Health, Readiness } from "@shoal/schemas";
import { defineEndpoint, json } from "../base/endpoint.ts";
import * as z from "zod/mini";

/** Health checks and the OpenAPI document. */
const area = "Service";

/** Succeeds while the process is alive. For liveness probes. */
export const getHealth = defineEndpoint({
  operationId: "service.health",
  area,
  plane: "control",
  method: "GET",
  path: "/health",
  summary: "Check that the service is alive.",
  responses: { 200: json(Health) },
  errors: [500],
  auth: "none",
});

/** Fails with 503 while a part that sessions need is unavailable. For readiness probes. */
export const getReadiness = defineEndpoint({
  operationId: "service.ready",
  area,
  plane: "control",
  method: "GET",
  path: "/ready",
  summary: "Check that the service is ready.",
  responses: { 200: json(Readiness) },
  errors: [500, 503],
  auth: "none",
});

/** An OpenAPI 3.1 document of every operation. */
export const getOpenApi = defineEndpoint({
  operationId: "service.openapi",
  area,
  plane: "control",
  method: "GET",
  path: "/openapi.json",
  summary: "Get the OpenAPI document of the service.",
  responses: { 200: json(z.record(z.string(), z.unknown())) },
  errors: [500],
  auth: "none",
});
