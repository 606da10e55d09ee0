import * as kubernetes from "@kubernetes/client-node";

interface Field {
  readonly baseName: string;
  readonly type: string;
}

interface Described {
  getAttributeTypeMap(): readonly Field[];
}

interface Model {
  validate(): void;
}

export interface ChartObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

const classes = kubernetes as unknown as Readonly<Record<string, Described | undefined>>;
const operatorGroup = "monitoring.coreos.com/v1";
const agentSandboxGroup = "extensions.agents.x-k8s.io/v1beta1";
/** Fields of agent-sandbox 1.0, from its API reference; no library has them. */
const agentSandboxFields: Readonly<Record<string, readonly string[]>> = {
  SandboxTemplate: ["podTemplate", "networkPolicyManagement", "envVarsInjectionPolicy"],
  SandboxWarmPool: ["replicas", "sandboxTemplateRef", "updateStrategy"],
};

/** Problems of an object for a current Kubernetes: unknown fields, and wrong or missing values. */
export async function problemsOf(object: ChartObject): Promise<readonly string[]> {
  if (object.apiVersion === agentSandboxGroup) return problemsOfSandboxes(object);
  const name = `${object.kind} ${object.metadata.name}`;
  const problems = [...unknownFields(object).map((path) => `unknown field ${path}`), ...podProblems(object)].map(
    (problem) => `${name}: ${problem}`,
  );
  try {
    await validate(object);
  } catch (error) {
    problems.push(`${name}: ${String(error)}`);
  }
  return problems;
}

/** As the pod that it becomes. */
async function problemsOfSandboxes(object: ChartObject): Promise<readonly string[]> {
  const { kind, metadata, spec = {} } = object as ChartObject & { readonly spec?: object };
  const known = agentSandboxFields[kind] ?? [];
  const unknown = Object.keys(spec).filter((name) => !known.includes(name));
  const template = (spec as { readonly podTemplate?: { readonly metadata: object; readonly spec: object } })
    .podTemplate;
  return [
    ...unknown.map((name) => `${kind} ${metadata.name}: unknown field ${kind}.spec.${name}`),
    ...(template === undefined
      ? []
      : await problemsOf({
          ...{ apiVersion: "v1", kind: "Pod", spec: template.spec },
          metadata: { ...template.metadata, name: metadata.name },
        })),
  ];
}

async function validate(object: ChartObject): Promise<void> {
  const { apiVersion, kind } = object;
  const library = apiVersion === operatorGroup ? "@kubernetes-models/prometheus-operator" : "kubernetes-models";
  const models = (await import(`${library}/${apiVersion}`)) as Readonly<
    Record<string, (new (data: object) => Model) | undefined>
  >;
  const Kind = models[kind];
  if (Kind === undefined) throw new Error(`${apiVersion} has no ${kind}.`);
  new Kind(object).validate();
}

interface PodSpec {
  readonly hostUsers?: boolean;
  readonly containers: readonly { readonly securityContext?: SecurityContext }[];
  readonly securityContext?: SecurityContext;
}

interface SecurityContext {
  readonly procMount?: string;
  readonly seccompProfile?: { readonly type: string; readonly localhostProfile?: string };
}

/** Rules of the API server for security contexts, which no schema contains. */
function podProblems(object: ChartObject): string[] {
  const { spec } = object as { readonly spec?: { readonly template?: { readonly spec?: PodSpec } } & Partial<PodSpec> };
  const pod = spec?.template?.spec ?? spec;
  if (pod?.containers === undefined) return [];
  return [pod, ...pod.containers].flatMap(({ securityContext: context }) => {
    const { localhostProfile, type } = context?.seccompProfile ?? { type: undefined };
    return [
      ...(context?.procMount === "Unmasked" && pod.hostUsers !== false ? ["procMount needs hostUsers: false"] : []),
      ...((localhostProfile !== undefined) === (type === "Localhost")
        ? []
        : ["localhostProfile is for Localhost alone"]),
    ];
  });
}

/** The schemas of the models accept fields that they do not know; the client's classes list all fields. */
function unknownFields(object: ChartObject): string[] {
  if (object.apiVersion === operatorGroup) return [];
  const version = object.apiVersion.split("/").at(-1) ?? "";
  return unknownIn(object, `${version.charAt(0).toUpperCase()}${version.slice(1)}${object.kind}`, object.kind);
}

function unknownIn(value: unknown, type: string, path: string): string[] {
  const item = /^Array<(.*)>$/.exec(type)?.[1];
  if (item !== undefined)
    return Array.isArray(value)
      ? value.flatMap((each: unknown, at) => unknownIn(each, item, `${path}[${String(at)}]`))
      : [];
  const described = classes[type];
  if (described === undefined || typeof value !== "object" || value === null) return [];
  const fields = new Map(described.getAttributeTypeMap().map((field) => [field.baseName, field.type]));
  return Object.entries(value).flatMap(([name, inner]: [string, unknown]) => {
    const known = fields.get(name);
    return known === undefined ? [`${path}.${name}`] : unknownIn(inner, known, `${path}.${name}`);
  });
}
