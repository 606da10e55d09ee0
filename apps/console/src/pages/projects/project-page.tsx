import { Button, Group, Progress, Stack, Text, TextInput } from "@mantine/core";
import "@mantine/core/styles/Progress.css";
import type { Shoal } from "@shoal/client";
import type { Project, ProjectLimits } from "@shoal/schemas";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { shoalOf, useOrganization } from "../../api/shoal.ts";
import { forShell, type Programs, quoted } from "../../base/programs.ts";
import { IdText } from "../../parts/code.tsx";
import { Columns } from "../../parts/detail/columns.tsx";
import { DetailPage } from "../../parts/detail/detail-page.tsx";
import { Details } from "../../parts/detail/details.tsx";
import { Section } from "../../parts/detail/section.tsx";
import { changedIn } from "../../parts/forms/changed-in.ts";
import { FormDialog } from "../../parts/forms/form-dialog.tsx";
import { Ago, Moment } from "../../parts/moment.tsx";
import { ProgramCard } from "../../parts/program-card.tsx";
import { Failure } from "../../parts/states.tsx";
import { EvidenceSection } from "./evidence-section.tsx";
import { ProjectActions } from "./project-actions.tsx";
import { ProjectStatus } from "./projects-page.tsx";

const refreshMs = 5000;
const mostCounted = 1000;

export function ProjectPage() {
  const { id } = useParams({ from: "/projects/$id" });
  const { shoal, isAdmin } = useOrganization();
  const query = useQuery({
    queryKey: ["projects", "one", id],
    queryFn: async ({ signal }) => shoal.projects.get(id, { signal }),
  });
  return (
    <DetailPage
      kind="Project"
      above={{ label: "Projects", to: "/projects" }}
      query={query}
      head={(project) => ({
        title: project.name,
        description: <ProjectStatus status={project.status} />,
        actions: (
          <>
            <Button
              variant="default"
              renderRoot={(props) => <Link to="/sessions" search={{ project: id }} {...props} />}
            >
              Sessions
            </Button>
            <Button variant="default" renderRoot={(props) => <Link to="/usage" search={{ project: id }} {...props} />}>
              Usage
            </Button>
            {isAdmin && <ProjectActions project={project} />}
          </>
        ),
      })}
    >
      {(project) => (
        <Columns>
          <Stack gap="lg">
            <LimitsSection project={project} />
            <EvidenceSection project={project} />
          </Stack>
          <Stack gap="lg">
            <DetailsSection project={project} />
            <ProgramCard programs={programsOf(project)} />
          </Stack>
        </Columns>
      )}
    </DetailPage>
  );
}

const programsOf = ({ id, name }: Project): Programs => ({
  sdk: `await shoal.projects.limits.update(${quoted(name)}, { max_concurrent_sessions: 20 });`,
  cli: `projects limits update ${forShell(name)} --max-concurrent-sessions 20`,
  curl: { method: "PATCH", path: `/org/projects/${id}/limits`, body: { max_concurrent_sessions: 20 } },
});

function DetailsSection({ project: { id, created_at, updated_at, network } }: { readonly project: Project }) {
  return (
    <Section title="Details">
      <Details
        rows={[
          ["Id", <IdText id={id} />],
          ["Created", <Moment at={created_at} />],
          ["Changed", <Ago at={updated_at} />],
          ["Allowed hosts", network?.allow?.join(", ")],
          ["Denied hosts", network?.deny?.join(", ")],
        ]}
      />
    </Section>
  );
}

/** Sessions that run, and browsers that wait in pools: both count towards the limit. */
async function sessionsIn(shoal: Shoal, signal: AbortSignal): Promise<number> {
  let count = 0;
  for await (const pool of await shoal.browserPools.list({}, { signal })) count += pool.available_count;
  for await (const _session of await shoal.browsers.list({ limit: 100 }, { signal })) {
    count += 1;
    if (count >= mostCounted) break;
  }
  return count;
}

function LimitsSection({ project: { id } }: { readonly project: Project }) {
  const { shoal, isAdmin } = useOrganization();
  const [isOpen, setOpen] = useState(false);
  const limits = useQuery({
    queryKey: ["projects", "limits", id],
    queryFn: async ({ signal }) => shoal.projects.limits.get(id, { signal }),
  });
  const organization = useQuery({
    queryKey: ["organization-limits"],
    queryFn: async ({ signal }) => shoal.organization.limits.get({ signal }),
  });
  const used = useQuery({
    queryKey: ["browsers", id, "count"],
    queryFn: ({ signal }) => sessionsIn(shoalOf(id), signal),
    refetchInterval: refreshMs,
  });
  const own = limits.data?.max_concurrent_sessions ?? undefined;
  const effective =
    own ?? organization.data?.default_project_max_concurrent_sessions ?? organization.data?.max_concurrent_sessions;
  return (
    <Section
      title="Limits and use"
      actions={
        isAdmin &&
        limits.data !== undefined && (
          <Button
            size="xs"
            variant="default"
            aria-label="Change limits"
            onClick={() => {
              setOpen(true);
            }}
          >
            Change
          </Button>
        )
      }
    >
      {limits.error !== null && <Failure error={limits.error} retry={() => void limits.refetch()} />}
      {used.error !== null && <Failure error={used.error} retry={() => void used.refetch()} />}
      {effective !== undefined && used.data !== undefined && <SessionsNow count={used.data} limit={effective} />}
      {limits.data !== undefined && (
        <Details
          rows={[
            ["Sessions at once", own ?? "No own limit"],
            ["Invocations at once", limits.data.max_concurrent_invocations ?? "No own limit"],
          ]}
        />
      )}
      {limits.data !== undefined && (
        <LimitsDialog
          id={id}
          limits={limits.data}
          isOpen={isOpen}
          close={() => {
            setOpen(false);
          }}
        />
      )}
    </Section>
  );
}

function SessionsNow({ count, limit }: { readonly count: number; readonly limit: number }) {
  return (
    <Stack gap={6} mb="md">
      <Group justify="space-between">
        <Text size="sm">Sessions now, with waiting browsers of pools</Text>
        <Text size="sm" fw={600}>
          {count >= mostCounted ? `${mostCounted} or more` : count} of {limit}
        </Text>
      </Group>
      <Progress
        value={Math.min(100, (100 * count) / Math.max(1, limit))}
        color={count >= limit ? "red" : "cyan"}
        aria-label="Sessions now, in percent of the limit"
      />
    </Stack>
  );
}

interface LimitsDialogProps {
  readonly id: string;
  readonly limits: ProjectLimits;
  readonly isOpen: boolean;
  readonly close: () => void;
}

const numbersOf = (values: Readonly<Record<"max_concurrent_sessions" | "max_concurrent_invocations", string>>) => ({
  max_concurrent_sessions: Number(values.max_concurrent_sessions),
  max_concurrent_invocations: Number(values.max_concurrent_invocations),
});

function LimitsDialog({ id, limits, isOpen, close }: LimitsDialogProps) {
  const { shoal } = useOrganization();
  const queries = useQueryClient();
  return (
    <FormDialog
      isOpen={isOpen}
      title="Limits of the project"
      action="Save"
      initial={{
        max_concurrent_sessions: limits.max_concurrent_sessions?.toString() ?? "",
        max_concurrent_invocations: limits.max_concurrent_invocations?.toString() ?? "",
      }}
      submit={(values, initial) =>
        // 0 removes a limit.
        shoal.projects.limits.update(id, changedIn(numbersOf(initial), numbersOf(values)))
      }
      done={() => {
        close();
        void queries.invalidateQueries({ queryKey: ["projects"] });
      }}
      close={close}
    >
      {({ text }) => (
        <>
          <TextInput
            label="Sessions at once"
            description="Empty = no own limit"
            inputMode="numeric"
            pattern="[0-9]*"
            {...text("max_concurrent_sessions")}
            data-autofocus
          />
          <TextInput
            label="Invocations at once"
            description="Empty = no own limit"
            inputMode="numeric"
            pattern="[0-9]*"
            {...text("max_concurrent_invocations")}
          />
        </>
      )}
    </FormDialog>
  );
}
