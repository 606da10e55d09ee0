import type { FakeCluster } from "./fake-cluster.ts";
import type { FakeObject } from "./fake-objects.ts";

interface PodMetadata {
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
}

interface Template {
  readonly podTemplate: { readonly metadata?: PodMetadata; readonly spec: object };
}

interface Claim {
  readonly warmPoolRef: { readonly name: string };
  readonly additionalPodMetadata?: PodMetadata;
  readonly env?: readonly object[];
}

interface Pool {
  readonly replicas: number;
  readonly sandboxTemplateRef: { readonly name: string };
}

const poolLabel = "agents.x-k8s.io/pool";
const restrictedDomains = ["kubernetes.io", "k8s.io", "agents.x-k8s.io"];
/** Of labels, unless the controller is started with others. */
const allowedDomain = "sandbox.users.io";

/**
 * The controllers of agent-sandbox 0.5.6 for claims and warm pools: a claim gets a sandbox that waits, or a new one, and
 * its labels and annotations reach the pod. It refuses what they refuse.
 */
export class FakeClaims {
  readonly #cluster: FakeCluster;
  #made = 0;

  constructor(cluster: FakeCluster) {
    this.#cluster = cluster;
  }

  static sandboxOf({ status }: FakeObject): string {
    return (status as { sandbox?: { name?: string } } | undefined)?.sandbox?.name ?? "";
  }

  /** Starts the pods that wait. */
  fillPools(): void {
    for (const { metadata, spec } of this.#cluster.objects("sandboxwarmpools")) {
      const { replicas, sandboxTemplateRef } = spec as unknown as Pool;
      const template = this.#template(sandboxTemplateRef.name);
      if (template === undefined) continue;
      for (let waiting = this.#waiting(metadata.name).length; waiting < replicas; waiting += 1) {
        this.#made += 1;
        this.#start(`${metadata.name}-${String(this.#made)}`, { [poolLabel]: metadata.name }, template.podTemplate);
      }
    }
  }

  claimed(claim: FakeObject): void {
    const { additionalPodMetadata = {}, env = [], warmPoolRef } = claim.spec as unknown as Claim;
    const pool = this.#cluster.find("sandboxwarmpools", warmPoolRef.name);
    if (pool === undefined) {
      this.#refuse(claim, "WarmPoolNotFound", `SandboxWarmPool "${warmPoolRef.name}" not found`);
      return;
    }
    const template = this.#template((pool.spec as unknown as Pool).sandboxTemplateRef.name);
    if (template === undefined) {
      this.#refuse(claim, "TemplateNotFound", "SandboxTemplate not found");
      return;
    }
    const problem = problemOf(additionalPodMetadata, template.podTemplate.metadata ?? {});
    if (problem !== undefined) {
      this.#refuse(claim, "InvalidMetadata", `invalid additionalPodMetadata: ${problem}`);
      return;
    }
    const { labels = {}, annotations = {} } = template.podTemplate.metadata ?? {};
    const metadata = {
      labels: { ...labels, ...additionalPodMetadata.labels },
      annotations: { ...annotations, ...additionalPodMetadata.annotations },
    };
    const waiting = env.length === 0 ? this.#waiting(warmPoolRef.name)[0] : undefined;
    const name = waiting?.metadata.name ?? claim.metadata.name;
    if (waiting === undefined) this.#start(name, {}, { ...template.podTemplate, metadata });
    else {
      this.#cluster.put("sandboxes", { ...waiting, metadata: { ...waiting.metadata, labels: {} } });
      this.#cluster.relabel(name, metadata);
    }
    const conditions = [{ type: "Ready", status: "False", reason: "DependenciesNotReady", message: "Pod is Pending" }];
    this.#cluster.put("sandboxclaims", { ...claim, status: { conditions, sandbox: { name } } });
    this.fillPools();
  }

  #template(name: string): Template | undefined {
    return this.#cluster.find("sandboxtemplates", name)?.spec as Template | undefined;
  }

  #waiting(pool: string): readonly FakeObject[] {
    return this.#cluster.objects("sandboxes").filter(({ metadata }) => metadata.labels?.[poolLabel] === pool);
  }

  #start(name: string, labels: Record<string, string>, podTemplate: object): void {
    const metadata = { name, namespace: "browsers", labels };
    const kind = { apiVersion: "agents.x-k8s.io/v1beta1", kind: "Sandbox" };
    this.#cluster.startSandbox({ ...kind, metadata, spec: { podTemplate } });
  }

  #refuse(claim: FakeObject, reason: string, message: string): void {
    const conditions = [{ type: "Ready", status: "False", reason, message }];
    this.#cluster.put("sandboxclaims", { ...claim, status: { conditions } });
  }
}

function problemOf(wanted: PodMetadata, template: PodMetadata): string | undefined {
  for (const kind of ["labels", "annotations"] as const)
    for (const [key, value] of Object.entries(wanted[kind] ?? {})) {
      const domain = key.includes("/") ? key.slice(0, key.indexOf("/")) : "";
      if (kind === "labels" && !isWithin(domain, allowedDomain))
        return `label domain "${domain}" is not in the allowlist`;
      if (restrictedDomains.some((each) => isWithin(domain, each)))
        return `restricted system domain: "${key}" is not allowed in AdditionalPodMetadata`;
      if (kind === "labels" && !/^(?:[A-Za-z0-9](?:[-\w.]{0,61}[A-Za-z0-9])?)?$/.test(value))
        return `invalid label value: "${value}"`;
      const old = template[kind]?.[key];
      if (old !== undefined && old !== value) return `"${key}" is in the template with another value`;
    }
  return undefined;
}

function isWithin(domain: string, parent: string): boolean {
  return domain === parent || domain.endsWith(`.${parent}`);
}
