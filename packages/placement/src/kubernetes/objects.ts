export interface ObjectMetadata {
  readonly name?: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly creationTimestamp?: Date | string;
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

/** A Sandbox of agent-sandbox. */
export interface Sandbox extends ClusterObject {
  readonly spec?: { readonly shutdownTime?: string };
  readonly status?: { readonly conditions?: readonly Condition[] };
}
