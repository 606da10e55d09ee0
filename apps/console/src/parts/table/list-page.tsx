import { Button, Group } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import type { ReactNode } from "react";
import type { Programs } from "../../base/programs.ts";
import { RoleOnly } from "../access/role-only.tsx";
import { Page } from "../page.tsx";
import { ProgramCard } from "../program-card.tsx";
import { SearchField } from "./search-field.tsx";

interface ListPageProps {
  readonly title: string;
  readonly description: ReactNode;
  /** What people without the role admin cannot open: `The audit log`. Their page has nothing else. */
  readonly locked?: string | false;
  /** The button that opens the form for a new resource. */
  readonly create?: { readonly label: string; readonly run: () => void } | false;
  /** Buttons other than `create`. */
  readonly actions?: ReactNode;
  /** Shown above the search. */
  readonly above?: ReactNode;
  /** Label of the search, whose text is `query` in the address. */
  readonly search?: string;
  /** Shown next to the search. */
  readonly filters?: ReactNode;
  /** The same from a program. */
  readonly programs?: Programs | undefined;
  /** The list and dialogs. */
  readonly children: ReactNode;
}

/** A page that lists resources: heading, search, list, and the same from a program. */
export function ListPage({ title, description, locked = false, create = false, actions, ...content }: ListPageProps) {
  const isLocked = locked !== false;
  return (
    <Page
      title={title}
      description={description}
      actions={
        !isLocked && (
          <>
            {actions}
            {create !== false && (
              <Button leftSection={<Plus size={16} aria-hidden />} onClick={create.run}>
                {create.label}
              </Button>
            )}
          </>
        )
      }
    >
      {isLocked ? <RoleOnly role="admin" what={locked} /> : <Content {...content} />}
    </Page>
  );
}

function Content({
  above,
  search,
  filters,
  programs,
  children,
}: Pick<ListPageProps, "above" | "search" | "filters" | "programs" | "children">) {
  return (
    <>
      {above}
      {search !== undefined && (
        <Group gap="sm" align="flex-end">
          {filters}
          <Search label={search} />
        </Group>
      )}
      {children}
      {programs !== undefined && <ProgramCard programs={programs} />}
    </>
  );
}

function Search({ label }: { readonly label: string }) {
  const { query } = useSearch({ strict: false });
  const navigate = useNavigate();
  return (
    <SearchField
      label={label}
      value={query}
      change={(next) => void navigate({ to: ".", search: (before) => ({ ...before, query: next }), replace: true })}
    />
  );
}
