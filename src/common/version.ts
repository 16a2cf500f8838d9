// Which program this is and which wire it speaks. The build writes the package's version in; sources run as they are say so.
declare const __HARNESSD_VERSION__: string | undefined;

export const HARNESSD_VERSION: string = typeof __HARNESSD_VERSION__ === 'string' ? __HARNESSD_VERSION__ : '0.0.0-source';

/** Version of the app-server protocol; clients read it from the user agent and gate features on it. */
export const PROTOCOL_VERSION = '0.171.0';
