export interface ObjectMetadata {
  readonly name?: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly creationTimestamp?: Date | string;
  /** Set as soon as its deletion is requested. */
  readonly deletionTimestamp?: Date | string;
  readonly ownerReferences?: readonly object[];
}

/** An object of the API, as far as the service reads or writes it. The library's classes cannot be written as literals. */
export interface ClusterObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: ObjectMetadata;
  readonly spec?: object;
}

interface ContainerState {
  readonly running?: object;
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly terminated?: { readonly exitCode?: number; readonly reason?: string; readonly finishedAt?: Date | string };
}

export interface ContainerStatus {
  readonly state?: ContainerState;
}

interface Condition {
  readonly type?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface Pod extends ClusterObject {
  readonly status?: {
    readonly phase?: string;
    readonly podIP?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly conditions?: readonly Condition[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
}

export const sandboxVersion = "agents.x-k8s.io/v1beta1";
export const extensionsVersion = "extensions.agents.x-k8s.io/v1beta1";

/** What the service lists and follows, by the name in paths of the API. */
export const kinds = {
  pods: { apiVersion: "v1", kind: "Pod" },
  sandboxes: { apiVersion: sandboxVersion, kind: "Sandbox" },
  sandboxclaims: { apiVersion: extensionsVersion, kind: "SandboxClaim" },
} as const;
export type KindName = keyof typeof kinds;

/** A Sandbox of agent-sandbox. */
export interface Sandbox extends ClusterObject {
  readonly spec?: { readonly shutdownTime?: string };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** A claim of a Sandbox, which agent-sandbox takes from a SandboxWarmPool. */
export interface SandboxClaim extends ClusterObject {
  readonly spec?: { readonly lifecycle?: { readonly shutdownTime?: string } };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

export interface ObjectOf {
  readonly pods: Pod;
  readonly sandboxes: Sandbox;
  readonly sandboxclaims: SandboxClaim;
}
