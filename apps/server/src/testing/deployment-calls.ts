import { Deployment, type DeploymentEvent } from "@shoal/schemas";
import { expect } from "vitest";
import { deploymentOf, type Script } from "./scripted-builds.ts";
import type { TestReply, TestServer } from "./test-server.ts";

interface Followed {
  readonly events: DeploymentEvent[];
  readonly ids: string[];
  /** Whether the service ended the stream. */
  readonly ended: boolean;
}

/** Calls of a test about deployments of scripted builds. */
export class DeploymentCalls {
  readonly #server: () => TestServer;

  /** @param server - called inside tests only. */
  constructor(server: () => TestServer) {
    this.#server = server;
  }

  post(body: FormData, key = this.#server().key): Promise<TestReply> {
    return this.#server().request("POST", "/deployments", { body, key });
  }

  /** @returns the id of the deployment. */
  async deploy(script: Script, fields: Readonly<Record<string, string>> = {}, key?: string): Promise<string> {
    const reply = await this.post(await deploymentOf(script, fields), key);
    expect(reply).toMatchObject({ status: 201, body: { status: "queued" } });
    return Deployment.parse(reply.body).id;
  }

  async get(id: string): Promise<Deployment> {
    return (await this.#server().request("GET", `/deployments/${id}`)).body as Deployment;
  }

  async settled(id: string): Promise<Deployment> {
    await expect.poll(async () => (await this.get(id)).status).toMatch(/running|failed|stopped/);
    return this.get(id);
  }

  rollBack(id: string, key = this.#server().key): Promise<TestReply> {
    return this.#server().request("POST", `/deployments/${id}/rollback`, { key });
  }

  async apps(query: string, key = this.#server().key): Promise<readonly Record<string, unknown>[]> {
    return (await this.#server().request("GET", `/apps${query}`, { key })).body as Record<string, unknown>[];
  }

  /** Follows until `until` or the end of the stream. */
  async events(id: string, query = "", until: (event: DeploymentEvent) => boolean = () => false): Promise<Followed> {
    const { baseUrl, key } = this.#server();
    const response = await fetch(`${baseUrl}/deployments/${id}/events${query}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(response.status).toBe(200);
    const events: DeploymentEvent[] = [];
    const ids: string[] = [];
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      for (let end = text.indexOf("\n\n"); end !== -1; end = text.indexOf("\n\n")) {
        const frame = text.slice(0, end);
        text = text.slice(end + 2);
        const data = /^data: (.*)$/m.exec(frame)?.[1];
        if (data === undefined) continue;
        const event = JSON.parse(data) as DeploymentEvent;
        events.push(event);
        ids.push(/^id: (.*)$/m.exec(frame)?.[1] ?? "");
        if (until(event)) return { events, ids, ended: false };
      }
    }
    return { events, ids, ended: true };
  }
}

export const brief = (events: readonly DeploymentEvent[]): string[] =>
  events.map((event) => {
    switch (event.event) {
      case "log":
        return event.message;
      case "deployment_state":
        return event.deployment.status;
      case "app_version_summary":
        return `${event.app_name}@${event.version}`;
      default:
        return event.event;
    }
  });

export const isRunning = (event: DeploymentEvent): boolean =>
  event.event === "deployment_state" && event.deployment.status === "running";
