import { Health, Readiness } from "@shoal/schemas";
import { defineEndpoint, json } from "./endpoint.ts";
import * as z from "zod/mini";

const area = "Service";

/** Answers while the process is alive; for liveness probes. */
export const getHealth = defineEndpoint({
  operationId: "service.health",
  area,
  plane: "control",
  method: "GET",
  path: "/health",
  summary: "Tell whether the service is alive.",
  responses: { 200: json(Health) },
  errors: [500],
  auth: "none",
});

/** Answers 503 while a part is missing that sessions need; for readiness probes. */
export const getReadiness = defineEndpoint({
  operationId: "service.ready",
  area,
  plane: "control",
  method: "GET",
  path: "/ready",
  summary: "Tell whether the service can take work.",
  responses: { 200: json(Readiness) },
  errors: [500, 503],
  auth: "none",
});

/** The document that describes every operation, OpenAPI 3.1. */
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
