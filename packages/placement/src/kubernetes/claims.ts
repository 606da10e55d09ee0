import { PlacementError } from "../interface/placement-error.ts";
import type { Cluster } from "./cluster.ts";
import { type ClusterObject, extensionsVersion, kinds } from "./objects.ts";
import { containerName, labels } from "./pod-spec.ts";
import * as z from "zod/mini";

/** Kubernetes shows it to the pod as a file, also when it appears after the start of the pod. */
export const pinAnnotation = "shoal.dev/service-pin";
export const pinPath = "/run/shoal-claim/service-pin";

export interface ClaimsOptions {
  readonly cluster: Cluster;
  /** The SandboxWarmPool that claims name. */
  readonly warmPool: string;
  readonly image: string;
  readonly runtimeClass: string | undefined;
}

export interface ClaimOptions {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly warmPool: string;
  /** Of the service. */
  readonly pin: string;
  readonly shutdownTime: Date;
}

const Pool = z.object({ spec: z.object({ sandboxTemplateRef: z.object({ name: z.string() }) }) });
const PodTemplate = z.object({
  metadata: z.optional(z.object({ labels: z.optional(z.record(z.string(), z.string())) })),
  spec: z.object({
    hostNetwork: z.optional(z.boolean()),
    runtimeClassName: z.optional(z.string()),
    containers: z.array(
      z.object({
        name: z.string(),
        image: z.optional(z.string()),
        env: z.optional(z.array(z.object({ name: z.string(), value: z.optional(z.string()) }))),
      }),
    ),
  }),
});
const Template = z.object({
  spec: z.object({
    podTemplate: PodTemplate,
    networkPolicyManagement: z.optional(z.string()),
    networkPolicy: z.optional(z.object({ egress: z.optional(z.array(z.unknown())) })),
  }),
});
type Template = z.output<typeof Template>;

/** Seconds in which servers read the result of an ended pod. */
const finishedSeconds = 60;

/** A claim whose pod belongs to the server. Labels of kubernetes.io are in the template: claims may not add them to pods. */
export function claimObject({
  labels: own,
  name,
  namespace,
  pin,
  shutdownTime,
  warmPool,
}: ClaimOptions): ClusterObject {
  const { [labels.server]: server = "", [labels.instance]: instance = "" } = own;
  return {
    ...kinds.sandboxclaims,
    metadata: { name, namespace, labels: own },
    spec: {
      warmPoolRef: { name: warmPool },
      additionalPodMetadata: {
        labels: { [labels.server]: server, [labels.instance]: instance },
        annotations: { [pinAnnotation]: pin },
      },
      lifecycle: {
        shutdownTime: shutdownTime.toISOString(),
        ttlSecondsAfterFinished: finishedSeconds,
        shutdownPolicy: "Delete",
      },
    },
  };
}

/**
 * Checks that the template has the image of this server, and keeps pods closed. It can change while the server runs.
 * @throws {PlacementError} `bad_option`.
 */
export async function checkTemplate({ cluster, warmPool, ...wanted }: ClaimsOptions): Promise<void> {
  const pool = await cluster.read(extensionsVersion, "SandboxWarmPool", warmPool);
  if (pool === undefined)
    throw problem(`the namespace ${cluster.namespace} has no SandboxWarmPool ${warmPool}. The Helm chart makes one.`);
  const { name } = Pool.parse(pool).spec.sandboxTemplateRef;
  const template = await cluster.read(extensionsVersion, "SandboxTemplate", name);
  if (template === undefined)
    throw problem(`the SandboxTemplate ${name} of the SandboxWarmPool ${warmPool} does not exist.`);
  const parsed = Template.safeParse(template);
  if (!parsed.success) throw problem(`the SandboxTemplate ${name} is invalid: ${z.prettifyError(parsed.error)}`);
  const found = networkProblem(parsed.data) ?? podProblem(parsed.data, wanted);
  if (found !== undefined)
    throw problem(`the SandboxTemplate ${name} ${found}. Compare it with the one of the Helm chart.`);
}

function problem(message: string): PlacementError {
  return new PlacementError("bad_option", `kubernetes_warm_pool: ${message}`);
}

function networkProblem({ spec }: Template): string | undefined {
  const { networkPolicy, networkPolicyManagement: management = "Managed", podTemplate } = spec;
  // Policies add up, and the default policy of agent-sandbox opens the internet.
  if (management !== "Unmanaged" && (networkPolicy === undefined || (networkPolicy.egress ?? []).length > 0))
    return "has a managed NetworkPolicy that opens the network to pods: set networkPolicyManagement to Unmanaged";
  if (podTemplate.metadata?.labels?.[labels.part] !== "session")
    return `lacks the label ${labels.part}: session of pods, by which the NetworkPolicy selects them`;
  if (podTemplate.spec.hostNetwork === true) return "uses the network of the node (hostNetwork)";
  return undefined;
}

function podProblem(
  { spec: { podTemplate } }: Template,
  { image, runtimeClass }: Pick<ClaimsOptions, "image" | "runtimeClass">,
): string | undefined {
  const { containers, runtimeClassName } = podTemplate.spec;
  const [container] = containers;
  if (containers.length !== 1 || container?.name !== containerName)
    return `needs exactly one container, with the name ${containerName}`;
  if (container.image !== image)
    return `has the image ${container.image ?? ""}, and kubernetes_image is ${image}. Servers of another version must be replaced after a change of the template`;
  if (runtimeClassName !== runtimeClass)
    return `has the runtime class ${runtimeClassName ?? "of the cluster"}, and kubernetes_runtime_class is ${runtimeClass ?? "not set"}`;
  const config = container.env?.find(({ name }) => name === "SHOAL_INSTANCE")?.value;
  if (config?.includes(JSON.stringify(pinPath)) !== true)
    return `lacks the variable SHOAL_INSTANCE with remote.service_pin_path: ${pinPath}`;
  return undefined;
}
