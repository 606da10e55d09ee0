import { Stack } from "@mantine/core";
import type { Profile } from "@shoal/schemas";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useCanOperate, useIsAdmin, useSignedIn } from "../../api/shoal.ts";
import { sizeText } from "../../base/texts.ts";
import { IdText } from "../../parts/code.tsx";
import { Columns } from "../../parts/detail/columns.tsx";
import { DetailPage } from "../../parts/detail/detail-page.tsx";
import { Details } from "../../parts/detail/details.tsx";
import { Section } from "../../parts/detail/section.tsx";
import { Ago, Moment } from "../../parts/moment.tsx";
import { ProgramCard } from "../../parts/program-card.tsx";
import { Failure } from "../../parts/states.tsx";
import { CookiesSection } from "./cookies-section.tsx";
import { ProfileActions } from "./profile-actions.tsx";
import { ProfileSessions } from "./profile-sessions.tsx";
import { profileQuery } from "./queries.ts";
import { VersionsSection } from "./versions-section.tsx";

export function ProfilePage() {
  const { id } = useParams({ from: "/profiles/$id" });
  const { shoal } = useSignedIn();
  const canOperate = useCanOperate();
  const isAdmin = useIsAdmin();
  const query = useQuery(profileQuery(shoal, id));
  return (
    <DetailPage
      kind="Profile"
      above={{ label: "Profiles", to: "/profiles" }}
      query={query}
      head={(profile) => ({
        title: nameOf(profile),
        description: "A profile: state that sessions start from.",
        actions: canOperate && <ProfileActions profile={profile} />,
      })}
    >
      {(profile) => (
        <>
          {profile.last_save_error !== undefined && (
            <Failure error={`The last save failed: ${profile.last_save_error} The state before it is untouched.`} />
          )}
          <Columns>
            <Stack gap="lg">
              <VersionsSection profile={profile} />
              {isAdmin && <CookiesSection profile={profile} />}
            </Stack>
            <Stack gap="lg">
              <DetailsSection profile={profile} />
              <ProfileSessions profile={profile} />
              <ProgramCard programs={programsOf(nameOf(profile))} />
            </Stack>
          </Columns>
        </>
      )}
    </DetailPage>
  );
}

const nameOf = ({ id, name }: Profile): string => name ?? id;

const programsOf = (name: string) => ({
  sdk: `const browser = await shoal.browsers.create({
  profile: { name: ${JSON.stringify(name)}, save_changes: true },
});`,
  cli: `browsers create --profile-name ${JSON.stringify(name)} --profile-save-changes`,
  curl: { method: "POST", path: "/browsers", body: { profile: { name, save_changes: true } } } as const,
});

function DetailsSection({ profile }: { readonly profile: Profile }) {
  const { id, created_at, updated_at, last_used_at, saved_at, size_bytes } = profile;
  return (
    <Section title="Details">
      <Details
        rows={[
          ["Id", <IdText id={id} />],
          ["Created", <Moment at={created_at} />],
          ["Changed", updated_at !== undefined && <Ago at={updated_at} />],
          ["Saved", saved_at === undefined ? "Never: the profile is empty" : <Ago at={saved_at} />],
          ["Size", size_bytes !== undefined && sizeText(size_bytes)],
          ["Last use", last_used_at === undefined ? "Never" : <Ago at={last_used_at} />],
        ]}
      />
    </Section>
  );
}
