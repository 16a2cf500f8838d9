// What each approval policy lets be asked, and the words for what it does not. These texts name the policy, never the user: the user
// was not asked.

export interface GranularApproval {
  readonly sandbox_approval: boolean;
  readonly rules: boolean;
  readonly skill_approval?: boolean;
  readonly request_permissions?: boolean;
  readonly mcp_elicitations: boolean;
}

/** on-failure is an older spelling of on-request. */
export type ApprovalPolicy = 'untrusted' | 'on-request' | 'on-failure' | 'never' | { readonly granular: GranularApproval };
/** sandbox: leave to go round the sandbox, or to run without one. rules: what a rule or the danger list wants asked. */
export type UnrequestablePolicy = 'sandbox' | 'rules';

export function canAskFor(policy: ApprovalPolicy, subject: UnrequestablePolicy): boolean {
  if (typeof policy === 'object') return subject === 'sandbox' ? policy.granular.sandbox_approval : policy.granular.rules;
  return policy !== 'never';
}

export function refusal(policy: ApprovalPolicy, subject: UnrequestablePolicy, what: string): string {
  const named =
    typeof policy === 'object'
      ? `the granular approval policy has ${subject === 'sandbox' ? 'sandbox_approval' : 'rules'} switched off`
      : 'the approval policy is never';
  const instead =
    subject === 'sandbox'
      ? 'Work within the sandbox, without sandbox_permissions, or say what you could not do.'
      : 'Find another way, or say what you could not do.';
  return `rejected: ${what}, and ${named}, so nobody can be asked for approval. ${instead}`;
}

export const policyName = (policy: ApprovalPolicy): string =>
  typeof policy === 'object' ? 'the granular approval policy' : `approval policy ${policy}`;
