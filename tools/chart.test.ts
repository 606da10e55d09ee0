import { Ajv } from "ajv";
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { chartFolder, manifestsOf, missingForRendering, objectsOf, renderChart, seccompProfile } from "./chart.mjs";
import { accepted, contradictory, misspelled, type Values } from "./chart/cases.ts";
import { type ChartObject, problemsOf } from "./chart/check-object.ts";
import { InstanceConfig, instanceProgramPath } from "../packages/instance/src/index.ts";
import { remoteConfig } from "../packages/placement/src/image/remote-config.ts";
import { pinAnnotation, pinPath } from "../packages/placement/src/kubernetes/claims.ts";
import { podSpec } from "../packages/placement/src/kubernetes/pod-spec.ts";

interface PodSpec {
  readonly containers: readonly [
    {
      readonly command: readonly string[];
      readonly env: readonly { readonly name: string; readonly value?: string }[];
      readonly volumeMounts: readonly { readonly name: string }[];
    },
  ];
  readonly volumes: readonly { readonly name: string }[];
}

interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
}

const missing = process.env.SHOAL_REQUIRE_ALL === "1" ? undefined : missingForRendering();
const read = (path: string) => readFileSync(join(chartFolder, path), "utf8");
const schema = JSON.parse(read("values.schema.json")) as Schema;
const isValid = new Ajv({ allErrors: true, allowUnionTypes: true }).compile(schema);
const page = readFileSync(join(chartFolder, "../../docs/deploying.md"), "utf8");
const documented = [...page.matchAll(/```yaml values\n([\s\S]*?)```/g)].map(([, text = ""]) => parse(text) as Values);
const names = Object.keys(accepted) as readonly (keyof typeof accepted)[];

describe.skipIf(missing !== undefined)(`the Helm chart${missing === undefined ? "" : ` (skipped: ${missing})`}`, () => {
  let rendered: ReturnType<typeof renderChart>;
  beforeAll(() => {
    const values = [
      ...Object.values(accepted),
      ...misspelled.map(([each]) => each),
      ...contradictory.map(([each]) => each),
      ...documented,
    ];
    rendered = renderChart(values.map((each) => ({ values: each })));
  });
  const resultOf = (name: keyof typeof accepted): (typeof rendered)[number] =>
    rendered[names.indexOf(name)] ?? { values: {} };
  const objects = (name: keyof typeof accepted) => objectsOf(resultOf(name)) as readonly ChartObject[];
  const find = (name: keyof typeof accepted, kind: string, suffix = "") =>
    objects(name).find((each) => each.kind === kind && each.metadata.name === `shoal${suffix}`) as unknown as Values;
  const config = (name: keyof typeof accepted) =>
    parse((find(name, "ConfigMap").data as Record<string, string>)["shoal.config.yaml"] ?? "") as Values;
  const kinds = (name: keyof typeof accepted) => objects(name).map(({ kind }) => kind);

  it.each(names)("makes valid objects of %s", async (name) => {
    const { values } = resultOf(name);
    expect(isValid(values), JSON.stringify(isValid.errors)).toBe(true);
    const problems = await Promise.all(objects(name).map(problemsOf));
    expect(problems.flat()).toEqual([]);
    const keys = objects(name).map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ""} ${metadata.name}`);
    expect(new Set(keys).size).toBe(keys.length);
    expect(objects(name).every(({ metadata }) => metadata.labels?.["helm.sh/chart"] !== undefined)).toBe(true);
  });

  it.each(misspelled.map(([values, place], at) => ({ values, place, at })))(
    "names $place in the values $values",
    ({ place, at }) => {
      expect(isValid(rendered[names.length + at]?.values)).toBe(false);
      expect(JSON.stringify(isValid.errors)).toContain(`"${place}"`);
    },
  );

  it.each(contradictory.map(([values, message], at) => ({ values, message, at })))(
    'refuses $values: "$message"',
    ({ message, at }) => {
      expect(rendered[names.length + misspelled.length + at]?.error).toContain(message);
    },
  );

  it("accepts the values of the documentation", () => {
    expect(documented.length).toBe(3);
    for (const { error, values } of rendered.slice(-documented.length)) {
      expect(error).toBeUndefined();
      expect(isValid(values), JSON.stringify(isValid.errors)).toBe(true);
    }
  });

  it("makes only what one server needs by default, without a secret and without rights", () => {
    expect(kinds("defaults").toSorted()).toEqual(
      [
        "ConfigMap",
        "NetworkPolicy",
        "PodDisruptionBudget",
        "Service",
        "Service",
        "ServiceAccount",
        "StatefulSet",
      ].toSorted(),
    );
    expect(JSON.stringify(objects("defaults"))).not.toMatch(/secretRef|secretKeyRef/);
    expect(find("defaults", "StatefulSet")).toMatchObject({
      spec: {
        replicas: 1,
        template: {
          spec: {
            automountServiceAccountToken: false,
            hostUsers: false,
            terminationGracePeriodSeconds: 5 + 0 + 80 + 30,
            securityContext: { runAsNonRoot: true },
            containers: [{ securityContext: { readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } } }],
          },
        },
      },
    });
  });

  it("omits everything that is turned off", () => {
    const name = "one server with all options off";
    expect(kinds(name).toSorted()).toEqual(["ConfigMap", "Secret", "Service", "Service", "StatefulSet"]);
    const text = JSON.stringify(find(name, "StatefulSet"));
    for (const absent of ["hostUsers", "appArmorProfile", "volumeClaimTemplates"]) expect(text).not.toContain(absent);
    expect(text).toContain('"serviceAccountName":"existing"');
  });

  it("waits for running sessions and scales by the share in use, with several servers", () => {
    const name = "many servers with sandboxes";
    expect(kinds(name)).toEqual(
      expect.arrayContaining(["HorizontalPodAutoscaler", "Ingress", "PrometheusRule", "ServiceMonitor"]),
    );
    const { replicas, template } = find(name, "StatefulSet").spec as { replicas?: number; template: { spec: Values } };
    expect(replicas).toBeUndefined();
    expect(template.spec.terminationGracePeriodSeconds).toBe(5 + 3600 + 80 + 30);
    expect(template.spec.topologySpreadConstraints).toEqual([]);
    expect(config(name)).toEqual({
      ...{ max_sessions: 20, idle_timeout_seconds: 120, placement: "sandbox" },
      ...{ drain_seconds: 10, session_drain_seconds: 3600, shutdown_seconds: 80 },
      ...{ public_url: "https://shoal.test", content_url: "https://content.shoal.test" },
      ...{ metrics_host: "0.0.0.0", metrics_port: 9464 },
    });
    expect(JSON.stringify(find(name, "HorizontalPodAutoscaler"))).toContain('"averageValue":"700m"');
    const { data } = find(name, "ConfigMap", "-dashboard") as { data: Record<string, string> };
    expect(JSON.parse(data["shoal.json"] ?? "")).toEqual(JSON.parse(read("files/dashboard.json")));
    expect(find(name, "PrometheusRule").spec).toEqual(parse(read("files/alerts.yaml")));
  });

  it("grants rights and opens the network only for pods of sessions", () => {
    const name = "pods of sessions in another namespace, as micro virtual machines";
    expect(config(name)).toMatchObject({
      ...{ placement: "kubernetes", kubernetes_namespace: "sessions", kubernetes_runtime_class: "kata" },
      kubernetes_image: "registry.test/shoal:1",
    });
    const there = objects(name).filter(({ metadata }) => metadata.namespace === "sessions");
    expect(there.map(({ kind }) => kind).toSorted()).toEqual(["NetworkPolicy", "Role", "RoleBinding"]);
    expect(find(name, "NetworkPolicy", "-sessions").spec).toMatchObject({
      egress: [],
      ingress: [{ ports: [{ port: 7801 }] }],
    });
    expect(find(name, "RoleBinding")).toMatchObject({ subjects: [{ name: "shoal", namespace: "browsers" }] });
    expect(kinds("a pod for each session, with existing rights and policies")).not.toEqual(
      expect.arrayContaining(["Role"]),
    );
    expect(kinds("many servers with sandboxes")).not.toContain("Role");
    expect(JSON.stringify(find(name, "StatefulSet"))).not.toMatch(/procMount|hostUsers|Unconfined/);
  });

  it("stores secrets in the Secret only", () => {
    const others = objects("one server with all options off").filter(({ kind }) => kind !== "Secret");
    expect(JSON.stringify(others)).not.toContain("k".repeat(32));
  });

  it("copies the filter of system calls to nodes, if wanted", () => {
    const name = "many servers with sandboxes";
    const { data } = find(name, "ConfigMap", "-seccomp") as { data: Record<string, string> };
    expect(data["profile.json"], "Run `node tools/chart.mjs` and commit the result.").toBe(seccompProfile());
    expect(JSON.stringify(find(name, "DaemonSet", "-seccomp"))).toContain('"/seccomp/profiles/shoal.json"');
    expect(find(name, "NetworkPolicy", "-seccomp").spec).not.toHaveProperty("egress");
  });

  it.each([
    ["kubernetes.yaml", "a pod for each session"],
    ["kubernetes-claims.yaml", "a claim for each session"],
  ] as const)("is the source of docs/service/%s", (file, name) => {
    const content = readFileSync(join(chartFolder, "../../docs/service", file), "utf8");
    const made = manifestsOf(objectsOf(resultOf(name)), file);
    expect(content, "Run `node tools/chart.mjs` and commit the result.").toBe(made);
  });

  it("makes pods for claims like those of the service, except that they wait for the key of their server", () => {
    const template = find("a claim for each session", "SandboxTemplate", "-sessions").spec as {
      podTemplate: { metadata: object; spec: PodSpec };
    };
    expect(template).toMatchObject({ networkPolicyManagement: "Unmanaged", envVarsInjectionPolicy: "Disallowed" });
    const { spec } = template.podTemplate;
    const [{ command, env, volumeMounts }] = spec.containers;
    const variable = env.find(({ name }) => name === "SHOAL_INSTANCE")?.value ?? "";
    const own = podSpec({
      image: "registry.example/shoal:1",
      runtimeClass: undefined,
      command: ["node", "--disable-sigusr1", `/opt/shoal/instance/${basename(instanceProgramPath)}`],
      env: { SHOAL_INSTANCE: variable },
      memoryBytes: 4096 * 2 ** 20,
      diskBytes: 2048 * 2 ** 20,
    }) as unknown as PodSpec;
    expect(command).toEqual(own.containers[0].command);
    const byName = <T extends { name: string }>(list: readonly T[]) =>
      list.filter(({ name }) => name !== "claim").toSorted((a, b) => a.name.localeCompare(b.name));
    const comparable = ({ containers: [container], volumes, ...rest }: PodSpec) => ({
      ...rest,
      volumes: byName(volumes),
      container: { ...container, volumeMounts: byName(container.volumeMounts) },
    });
    expect(comparable(spec)).toEqual(comparable(own));
    expect(volumeMounts).toContainEqual({ name: "claim", mountPath: dirname(pinPath), readOnly: true });
    expect(JSON.stringify(spec.volumes)).toContain(`metadata.annotations['${pinAnnotation}']`);
    const config = InstanceConfig.parse(JSON.parse(variable));
    expect(config.remote).toEqual({ port: 7801, service_pin_path: pinPath });
    const viewport = { width: 1920, height: 1080 };
    const contents = { chromium: config.chromium, full: config.chromium.full?.executable, node: "" } as never;
    const { node: _node, ...wanted } = remoteConfig({
      ...{ id: "claimed", viewport, contents },
      remote: { port: 7801, service_pin_path: pinPath },
    });
    expect(config).toMatchObject({ ...wanted, chromium: { kind: "headless_shell" } });
  });

  it("takes sessions from the warm pool, with the rights for claims", () => {
    const name = "claims as micro virtual machines, on separate nodes";
    expect(config(name)).toMatchObject({ kubernetes_warm_pool: "shoal-sessions", kubernetes_runtime_class: "kata" });
    expect(find(name, "SandboxWarmPool", "-sessions").spec).toMatchObject({ replicas: 10 });
    expect(find(name, "SandboxTemplate", "-sessions")).toMatchObject({
      metadata: { namespace: "sessions" },
      spec: {
        podTemplate: {
          spec: {
            ...{
              runtimeClassName: "kata",
              nodeSelector: { pool: "sessions" },
              imagePullSecrets: [{ name: "registry" }],
            },
            containers: [{ resources: { limits: { memory: String(2 ** 30) } } }],
          },
        },
      },
    });
    const text = JSON.stringify(find(name, "SandboxTemplate", "-sessions"));
    expect(text).not.toContain("sizeLimit");
    expect(JSON.stringify(find(name, "Role"))).not.toContain('"sandboxes"');
  });

  it("explains the next steps, with warnings", () => {
    const notes = (name: keyof typeof accepted) => resultOf(name).files?.["templates/NOTES.txt"] ?? "";
    expect(notes("defaults")).toContain("kubectl port-forward --namespace browsers service/shoal 7777:7777");
    expect(notes("many servers with sandboxes")).toContain("https://shoal.test");
    expect(notes("one server with all options off")).toContain("WARNING: networkPolicy.enabled is false");
    for (const name of names) expect(notes(name)).not.toMatch(/<no value>|%!|\n\n\n/);
  });
});

it("notices unknown fields, wrong types and missing values of objects", async () => {
  const object = (spec: object) => ({ apiVersion: "apps/v1", kind: "StatefulSet", metadata: { name: "s" }, spec });
  const template = { spec: { hostUser: false, containers: [{ name: "a", ports: [{ containerPort: "http" }] }] } };
  expect((await problemsOf(object({ selector: {}, template }))).join("\n")).toMatch(
    /unknown field StatefulSet\.spec\.template\.spec\.hostUser\n.*containerPort/s,
  );
  expect((await problemsOf(object({ template: {} }))).join("\n")).toMatch(/selector/);
  const monitor = { apiVersion: "monitoring.coreos.com/v1", kind: "ServiceMonitor", metadata: { name: "m" }, spec: {} };
  expect((await problemsOf(monitor)).join("\n")).toMatch(/endpoints|selector/);
});

it("has a description of each value, and each described value has a default", () => {
  const described = pathsOf(schema).filter((path) => path !== "global" && !path.startsWith("secrets.values."));
  const given = defaultsOf(parse(read("values.yaml")) as Values, schema);
  expect(given.toSorted()).toEqual(described.filter((path) => !/^resources\.claims$/.test(path)).toSorted());
  expect(pathsOf(schema, ({ description = "" }) => !description.endsWith("."))).toEqual([]);
});

it("has the version of the service", () => {
  const { version } = JSON.parse(readFileSync(join(chartFolder, "../../apps/server/package.json"), "utf8")) as {
    version: string;
  };
  expect(parse(read("Chart.yaml"))).toMatchObject({ version, appVersion: version });
});

/** Returns the paths of the properties that pass `filter`. */
function pathsOf({ properties = {} }: Schema, filter: (schema: Schema) => boolean = () => true, prefix = ""): string[] {
  return Object.entries(properties).flatMap(([name, inner]) => [
    ...(filter(inner) ? [prefix + name] : []),
    ...pathsOf(inner, filter, `${prefix}${name}.`),
  ]);
}

/** Stops where the schema does: labels and other maps. */
function defaultsOf(values: Values, { properties }: Schema, prefix = ""): string[] {
  if (properties === undefined) return [];
  return Object.entries(values).flatMap(([name, value]) => [
    prefix + name,
    ...(typeof value === "object" && value !== null && !Array.isArray(value)
      ? defaultsOf(value as Values, properties[name] ?? {}, `${prefix}${name}.`)
      : []),
  ]);
}
