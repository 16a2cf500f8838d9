// What a reviewer found, as text for people and for the thread. An answer that is not of the asked form is shown as it is.
import * as z from 'zod';

const finding = () =>
  z.object({
    title: z.string(),
    body: z.string(),
    code_location: z.object({
      absolute_file_path: z.string(),
      line_range: z.object({ start: z.number(), end: z.number() }),
    }),
  });

const verdict = () => z.object({ findings: z.array(finding()), overall_explanation: z.string().optional() });

/** The JSON object in a text, be it alone, fenced or amid words; null when there is none of the asked form. */
function readVerdict(text: string): z.infer<ReturnType<typeof verdict>> | null {
  const start = text.indexOf('{');
  const end = text.lastIndexOf('}');
  if (start < 0 || end < start) return null;
  try {
    const read = verdict().safeParse(JSON.parse(text.slice(start, end + 1)));
    return read.success ? read.data : null;
  } catch {
    return null;
  }
}

export function findingsText(answer: string): string {
  const read = readVerdict(answer);
  if (!read) return answer.trim() || 'The reviewer gave no answer.';
  const blocks = read.findings.map(({ title, body, code_location: { absolute_file_path: file, line_range: range } }) =>
    [`- ${title} — ${file}:${range.start}-${range.end}`, ...body.split('\n').map((line) => `  ${line}`)].join('\n'),
  );
  const summary = read.overall_explanation?.trim() ?? '';
  const heading = blocks.length === 1 ? 'Review comment:' : 'Review comments:';
  const parts = [summary, ...(blocks.length ? [heading, ...blocks] : [])].filter((part) => part !== '');
  return parts.join('\n\n') || 'Nothing was found.';
}
