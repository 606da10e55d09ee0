import { bytes, defineEndpoint, empty, json, multipart } from "@shoal/contract";
import * as z from "zod/mini";
import {
  AssignFiles,
  AssignInstance,
  ChangeViewport,
  PolicyRevision,
  SelectTelemetry,
  ViewportChanged,
} from "./protocol.ts";
import { pageControl } from "./page-endpoints.ts";

const area = "Instance Control";
const plane = "instance";
const ndjson = bytes("application/x-ndjson");
const profileArchive = bytes("application/zstd");

/** Requests of the service to an instance. Clients cannot reach them; they are not part of the public contract. */
export const instanceControl = {
  followEvents: defineEndpoint({
    operationId: "followEvents",
    area,
    plane,
    method: "GET",
    path: "/_instance/events",
    summary: "Follow what the instance reports, one InstanceEvent a line.",
    responses: { 200: ndjson },
    errors: [],
  }),
  assign: defineEndpoint({
    operationId: "assign",
    area,
    plane,
    method: "POST",
    path: "/_instance/assign",
    summary: "Hand the instance to a session, or change the session's settings.",
    body: json(AssignInstance),
    responses: { 200: empty },
    errors: [400, 409, 413, 422, 503],
  }),
  /** The parts have this order, so that the instance reads each as it arrives: `assign`, extensions, `profile`. */
  assignWithFiles: defineEndpoint({
    operationId: "assignWithFiles",
    area,
    plane,
    method: "POST",
    path: "/_instance/assign/files",
    summary: "The same as `assign`, with extensions and the archive of a profile.",
    body: multipart(AssignFiles),
    responses: { 200: empty },
    errors: [400, 409, 413, 422, 503],
  }),
  stop: defineEndpoint({
    operationId: "stop",
    area,
    plane,
    method: "POST",
    path: "/_instance/stop",
    summary: "End the session.",
    responses: { 204: empty },
    errors: [],
  }),
  changeViewport: defineEndpoint({
    operationId: "changeViewport",
    area,
    plane,
    method: "POST",
    path: "/_instance/viewport",
    summary: "Change the size of the session's pages or screen; 409 where that needs `force`.",
    body: json(ChangeViewport),
    responses: { 200: json(ViewportChanged) },
    errors: [400, 409, 503],
  }),
  reloadPolicies: defineEndpoint({
    operationId: "reloadPolicies",
    area,
    plane,
    method: "POST",
    path: "/_instance/policies",
    summary: "Have the browser read its policies again.",
    body: json(PolicyRevision),
    responses: { 204: empty },
    errors: [400, 422, 503],
  }),
  followTelemetry: defineEndpoint({
    operationId: "followTelemetry",
    area,
    plane,
    method: "GET",
    path: "/_instance/telemetry",
    summary: "Follow the session's telemetry, one event with its number a line.",
    query: z.object({ after: z.int().check(z.minimum(0)) }),
    responses: { 200: ndjson },
    errors: [400],
  }),
  selectTelemetry: defineEndpoint({
    operationId: "selectTelemetry",
    area,
    plane,
    method: "POST",
    path: "/_instance/telemetry",
    summary: "Select the categories of telemetry to capture.",
    body: json(SelectTelemetry),
    responses: { 200: empty },
    errors: [400],
  }),
  saveProfile: defineEndpoint({
    operationId: "saveProfile",
    area,
    plane,
    method: "GET",
    path: "/_instance/profile",
    summary: "Archive the browser's profile while the browser runs.",
    responses: { 200: profileArchive },
    errors: [503],
  }),
  saveProfileAtEnd: defineEndpoint({
    operationId: "saveProfileAtEnd",
    area,
    plane,
    method: "POST",
    path: "/_instance/profile/final",
    summary: "End the browser and archive its profile; may be repeated.",
    responses: { 200: profileArchive },
    errors: [503],
  }),
  followReplay: defineEndpoint({
    operationId: "followReplay",
    area,
    plane,
    method: "GET",
    path: "/_instance/replays/{id}",
    summary: "Read a recording while it grows. The trailer X-Finished-At has the time of its end.",
    params: z.object({ id: z.string().check(z.regex(/^[0-9a-f]{1,64}$/)) }),
    responses: { 200: bytes("video/mp4") },
    errors: [404],
  }),
  ...pageControl,
};

export type InstanceControlEndpoint = (typeof instanceControl)[keyof typeof instanceControl];
