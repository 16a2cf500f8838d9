// The terminal forms of an item whose work did not run to its own end. Chosen by the item's type: every started item gets one.
import type { ThreadItem } from '../protocol/item.ts';

/** The call was not let through. */
export function declinedItem(item: ThreadItem): ThreadItem {
  switch (item.type) {
    case 'commandExecution':
    case 'fileChange':
      return { ...item, status: 'declined' };
    case 'mcpToolCall':
      return failedItem(item, 'the call was not let through');
    default:
      return failedItem(item);
  }
}

/** The call failed, or its turn ended first. What it has so far (text, output) is kept. */
export function failedItem(item: ThreadItem, message?: string): ThreadItem {
  switch (item.type) {
    case 'commandExecution':
    case 'fileChange':
      return { ...item, status: 'failed' };
    case 'dynamicToolCall':
      return { ...item, status: 'failed', success: false, contentItems: item.contentItems ?? [] };
    case 'mcpToolCall':
      return { ...item, status: 'failed', error: item.error ?? { message: message ?? 'the call did not finish' } };
    case 'collabAgentToolCall':
      return { ...item, status: 'failed' };
    default:
      return item;
  }
}
