import { Alert, Anchor, Button, Text } from "@mantine/core";
import type { Deployment } from "@shoal/schemas";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { History, Trash2, TriangleAlert } from "lucide-react";
import { useCallback, useState } from "react";
import { useCanOperate, useIsAdmin, useSignedIn } from "../../api/shoal.ts";
import { RoleOnly } from "../../parts/access/role-only.tsx";
import { useAction } from "../../parts/action.ts";
import { DetailPage } from "../../parts/detail/detail-page.tsx";
import { Details } from "../../parts/detail/details.tsx";
import { Section } from "../../parts/detail/section.tsx";
import { ConfirmDialog, type Question } from "../../parts/forms/confirm-dialog.tsx";
import { RunStatus } from "../../parts/links/run-status.tsx";
import { LogLines } from "../../parts/log/log-lines.tsx";
import { type FollowStream, useFollow } from "../../parts/log/use-follow.ts";
import { Moment } from "../../parts/moment.tsx";

const refreshMs = 10_000;

export function DeploymentPage() {
  const { id } = useParams({ from: "/deployments/$id" });
  const { shoal } = useSignedIn();
  const canOperate = useCanOperate();
  const query = useQuery({
    queryKey: ["deployment", id],
    queryFn: async ({ signal }) => shoal.deployments.get(id, { signal }),
    refetchInterval: refreshMs,
  });
  return (
    <DetailPage
      kind="Deployment"
      above={{ label: "Deployments", to: "/apps", search: { tab: "deployments" } }}
      query={query}
      head={(deployment) => ({
        title: id,
        description: <RunStatus status={deployment.status} />,
        actions: <DeploymentActions deployment={deployment} />,
      })}
    >
      {(deployment) => (
        <>
          {deployment.status === "failed" && (
            <Alert color="red" icon={<TriangleAlert aria-hidden />} title="The deployment failed">
              {deployment.status_reason ?? "Its log shows more."}
            </Alert>
          )}
          <DeploymentDetails deployment={deployment} />
          {canOperate ? <DeploymentLog key={id} id={id} /> : <RoleOnly role="operator" what="The log of an app" />}
        </>
      )}
    </DetailPage>
  );
}

function DeploymentDetails({ deployment }: { readonly deployment: Deployment }) {
  const { id, created_at, entrypoint_rel_path, env_vars, source_checksum, source_path, source_ref } = deployment;
  return (
    <Section title="Details">
      <Details
        rows={[
          ["State", deployment.status !== "failed" && deployment.status_reason],
          ["Created", <Moment key="created" at={created_at} />],
          ["Changed", deployment.updated_at && <Moment key="updated" at={deployment.updated_at} />],
          ["Entry point", entrypoint_rel_path],
          ["Repository", deployment.source_url],
          ["Branch, tag or commit", source_ref],
          ["Directory", source_path],
          ["SHA-256 of the archive", source_checksum],
          ["Environment variables", Object.keys(env_vars ?? {}).join(", ")],
          [
            "Invocations",
            <Anchor
              key="invocations"
              size="sm"
              renderRoot={(props) => <Link to="/invocations" search={{ deployment: id }} {...props} />}
            >
              Show them
            </Anchor>,
          ],
        ]}
      />
    </Section>
  );
}

function DeploymentLog({ id }: { readonly id: string }) {
  const { shoal } = useSignedIn();
  const queries = useQueryClient();
  const open = useCallback((options: FollowStream) => shoal.deployments.follow(id, {}, options), [shoal, id]);
  const changed = useCallback(
    ({ event }: { readonly event: string }) => {
      if (event === "deployment_state") void queries.invalidateQueries({ queryKey: ["deployment", id] });
    },
    [queries, id],
  );
  const log = useFollow(open, changed);
  return (
    <Section title="Build and output" isPlain>
      <LogLines label="Log of the deployment" {...log} />
    </Section>
  );
}

/** Deployments are for admins. */
function DeploymentActions({ deployment: { id, status } }: { readonly deployment: Deployment }) {
  const { shoal } = useSignedIn();
  const isAdmin = useIsAdmin();
  const navigate = useNavigate();
  const [asked, setAsked] = useState<"rollback" | "delete">();
  const close = () => {
    setAsked(undefined);
  };
  const rollback = useAction({
    act: () => shoal.deployments.rollback(id),
    told: () => "The deployment runs again.",
    changes: [["deployment"], ["deployments"], ["apps"]],
  });
  const remove = useAction({
    act: () => shoal.deployments.delete(id),
    told: () => "The deployment was deleted.",
    done: () => void navigate({ to: "/apps", search: { tab: "deployments" } }),
    changes: [["deployments"], ["apps"]],
  });
  if (!isAdmin)
    return (
      <Text size="sm" c="dimmed">
        Changes need the role admin.
      </Text>
    );
  return (
    <>
      {status === "stopped" && (
        <Button
          size="xs"
          variant="default"
          leftSection={<History size={14} aria-hidden />}
          loading={rollback.isPending}
          onClick={() => {
            setAsked("rollback");
          }}
        >
          Roll back to it
        </Button>
      )}
      <Button
        size="xs"
        color="red"
        variant="light"
        leftSection={<Trash2 size={14} aria-hidden />}
        loading={remove.isPending}
        onClick={() => {
          setAsked("delete");
        }}
      >
        Delete
      </Button>
      <ConfirmDialog
        asked={asked === undefined ? undefined : questions[asked]}
        isDangerous={asked === "delete"}
        close={close}
        confirm={() => {
          close();
          if (asked === "rollback") rollback.mutate();
          else remove.mutate();
        }}
      />
    </>
  );
}

const questions: Readonly<Record<"rollback" | "delete", Question>> = {
  rollback: {
    title: "Roll back to this deployment?",
    text: "Its stored build replaces the running deployment with the same label.",
    action: "Roll back",
  },
  delete: {
    title: "Delete the deployment?",
    text: "Its app versions disappear, and running invocations of it fail.",
    action: "Delete the deployment",
  },
};
