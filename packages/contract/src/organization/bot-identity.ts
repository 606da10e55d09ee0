import { BotIdentity } from "@shoal/schemas";
import { defineEndpoint, json } from "../base/endpoint.ts";

/** The key with which sessions sign their requests (Web Bot Auth), so that sites can recognize them. The private key never leaves the service. */
const area = "Bot Identity";

/** Creates the first key of the project if it has none. */
export const getBotIdentity = defineEndpoint({
  operationId: "botIdentity.get",
  area,
  plane: "control",
  moves: ["read secrets"],
  method: "GET",
  path: "/bot_identity",
  summary: "Show the bot identity of the project.",
  responses: { 200: json(BotIdentity) },
  errors: [401, 403, 404, 500],
});

/** Creates a new key, which signs within a minute. The directory contains the old key for 24 hours. */
export const rotateBotKey = defineEndpoint({
  operationId: "botIdentity.rotate",
  area,
  plane: "control",
  moves: ["write secrets"],
  method: "POST",
  path: "/bot_identity/rotate",
  summary: "Replace the signing key.",
  responses: { 200: json(BotIdentity) },
  errors: [401, 403, 404, 500],
});
