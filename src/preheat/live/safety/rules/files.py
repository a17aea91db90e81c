"""Files and disks: what is gone for good, or open to everybody."""

from preheat.live.safety.rule import Rule

_RM = "rm"
_RECURSIVE = "-r -R --recursive"
_TOP = (
    r"bin|boot|dev|etc|home|lib\w*|media|mnt|opt|private|proc|root|run|sbin|srv|sys|usr|var|Applications|Library|System"
    r"|Users|Volumes"
)
_HOME = r"(?:~\w*|\$\{?HOME\}?|/root|/(?:home|Users)/[^/]+)"

FILES = (
    Rule(
        id="rm-root", severity="critical", effect="Removes the root of the disk or a whole top-level folder.",
        programs=_RM, flags=(_RECURSIVE,), operand=rf"/(?:{_TOP})?/?\*?|[A-Za-z]:[\\/]*\*?|/\.\.?",
        example="sudo rm -rf --no-preserve-root /", counterexample="rm -rf /tmp/build",
    ),
    Rule(
        id="rm-home", severity="critical", effect="Removes a home folder, or everything in it.",
        programs=_RM, flags=(_RECURSIVE,), operand=rf"{_HOME}/?(?:\.?\*)?",
        example='rm -rf "$HOME"/*', counterexample="rm -rf ~/.cache/pip",
    ),
    Rule(
        id="rm-here", severity="high", effect="Removes the folder it stands in, or everything in it.",
        programs=_RM, flags=(_RECURSIVE,), operand=r"\.{1,2}/?|(?:\./)?\.?\*|\$\{?PWD\}?/?\*?|\$\(pwd\)/?\*?",
        example="rm -rf ./*", counterexample="rm -rf ./dist",
    ),
    Rule(
        id="rm-git", severity="high", effect="Removes a repository's history.",
        programs=_RM, flags=(_RECURSIVE,), operand=r"(?:(?!/tmp/|/private/tmp/|/var/folders/|\$).*/)?\.git/?",
        example="rm -rf .git", counterexample="rm -rf .github",
    ),
    Rule(
        id="rm-system", severity="high", effect="Removes a part of the system's own folders.",
        programs=_RM, flags=(_RECURSIVE,),
        operand=r"/(?:etc|usr|bin|boot|lib\w*|sbin|var/(?:lib|log|www)|System|Library|opt)/(?!lib/apt/lists|apt/lists"
                r"|local/go\b).+",
        unless=r"/var/lib/apt/lists",
        example="rm -r /etc/nginx", counterexample="rm -rf /var/lib/apt/lists/*",
    ),
    Rule(
        id="rm-in-home", severity="high", effect="Removes a person's own folder: documents, projects, settings, keys.",
        programs=_RM, flags=(_RECURSIVE,),
        operand=rf"{_HOME}/(?:(?:Documents|Desktop|Downloads|Pictures|Music|Movies|Videos|Dropbox|OneDrive|\.config|\.ssh"
                rf"|\.gnupg|\.aws|\.kube|\.docker|\.local)(?:/[^/]+)?|[Cc]ode|[Pp]rojects?|src|dev|[Ww]ork|repos?"
                rf"|workspace)/?\*?",
        example="rm -rf ~/Documents/letters", counterexample="rm -rf ~/.cache/uv",
    ),
    Rule(
        id="rm-variable",
        severity="medium",
        effect="Removes everything below a variable: the root of the disk, should it be empty.",
        programs=_RM, flags=(_RECURSIVE,), operand=r"\$(?!\{\w+:[?]|HOME\b|\{HOME|PWD\b|\{PWD)\{?\w+\}?/(?:\*|\.\*)?",
        example="rm -rf $BUILD_DIR/*", counterexample='rm -rf "${BUILD_DIR:?}"/*',
    ),
    Rule(
        id="find-delete-all", severity="high", effect="Deletes whatever a search finds, without saying what to look for.",
        programs="find", words=r" -delete\b| -exec(?:dir)? (?:\S*/)?rm\b",
        unless=r" -(?:i?name|i?path|i?regex|wholename|newer\w*|m?time|[amc]time|[amc]min|size|empty|user|inum|perm|links)\b"
               r"|^find (?:\S*/)?(?:tmp|node_modules|dist|build|target|coverage|__pycache__|\.cache)\b",
        example="find . -type f -delete", counterexample="find . -name '*.pyc' -delete",
    ),
    Rule(
        id="find-delete-wide", severity="high", effect="Deletes what a search over the whole disk or home folder finds.",
        programs="find", words=rf"^find (?:-\w+ )*(?:/|{_HOME})/?(?: .*)?(?: -delete\b| -exec(?:dir)? (?:\S*/)?rm\b)",
        example="find / -name '*.log' -delete", counterexample="find src -name '*.log' -delete",
    ),
    Rule(
        id="shred", severity="high", effect="Overwrites files so that nothing brings them back.",
        programs="shred wipe srm", without="--help --version",
        example="shred -u notes.txt", counterexample="rm notes.txt",
    ),
    Rule(
        id="dd-device", severity="critical", effect="Writes raw bytes over a disk.",
        programs="dd", operand=r"of=/dev/(?!null|zero|stdout|stderr|tty|shm|fd).+",
        example="dd if=image.iso of=/dev/sda bs=4M", counterexample="dd if=/dev/zero of=disk.img bs=1M count=10",
    ),
    Rule(
        id="mkfs", severity="critical", effect="Formats a disk, or changes its partitions.",
        programs="mkfs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.ntfs mke2fs mkswap wipefs fdisk "
                 "sfdisk sgdisk parted",
        operand=r"/dev/.+", without="-l --list -n --no-act -p",
        example="mkfs.ext4 /dev/nvme0n1", counterexample="fdisk -l /dev/sda",
    ),
    Rule(
        id="disk-erase", severity="critical", effect="Erases a disk with the system's own tool.",
        programs="diskutil format Format-Volume Clear-Disk",
        words=r"(?i)^diskutil (?:erase|partition|zero)|^format [a-z]:|^Format-Volume|^Clear-Disk",
        example="diskutil eraseDisk APFS Blank /dev/disk2", counterexample="diskutil list",
    ),
    Rule(
        id="device-redirect", severity="critical", effect="Sends output over a disk.",
        shell_text=r">\s*/dev/(?:sd[a-z]|nvme\d|hd[a-z]|vd[a-z]|xvd[a-z]|disk\d|mmcblk\d)",
        signs="/dev/",
        example="cat image.bin > /dev/sda", counterexample="cat image.bin > /dev/null",
    ),
    Rule(
        id="windows-remove", severity="high", effect="Removes a drive, a home folder or everything here, without asking.",
        programs="Remove-Item ri rd rmdir del erase",
        words=r"(?i)(?: -rec\w*| /s\b).* (?:[a-z]:[\\/]?\*?|~|\$env:userprofile|\$home|%userprofile%|\*|\.[\\/]?\*?)(?: -\w+"
              r"| /\w)*$|^(?:rd|rmdir|del|erase) .*(?:/s /q|/q /s).* [a-z]:[\\/]?(?:\*|$)",
        example="Remove-Item -Recurse -Force C:\\", counterexample="Remove-Item -Recurse -Force dist",
    ),
    Rule(
        id="chmod-open-tree", severity="high", effect="Lets everybody write into a whole tree of files.",
        programs="chmod", flags=("-R --recursive",), operand=r"0?[0-7]?777|a\+rwx|a=rwx|ugo\+rwx|o\+w|a\+w",
        example="chmod -R 777 .", counterexample="chmod -R u+w build",
    ),
    Rule(
        id="chmod-open", severity="medium", effect="Lets everybody write to a file.",
        programs="chmod", without="-R --recursive", operand=r"0?[0-7]?777|0?666|a\+rwx|ugo\+rwx|o\+w|a\+w",
        example="chmod 777 run.sh", counterexample="chmod 755 run.sh",
    ),
    Rule(
        id="setuid", severity="high", effect="Lets a program run with its owner's rights, whoever starts it.",
        programs="chmod", operand=r"[ugoa]*\+[rwx]*s[rwx]*|0?[2467][0-7]{3}",
        example="chmod u+s /usr/local/bin/tool", counterexample="chmod u+x tool",
    ),
    Rule(
        id="chown-tree", severity="high", effect="Gives a system folder or a home folder to another owner, with all that is in it.",
        programs="chown chgrp", flags=("-R --recursive",), operand=rf"/(?:{_TOP})?/?|{_HOME}/?",
        example="chown -R www-data /var", counterexample="chown -R app ./data",
    ),
    Rule(
        id="move-to-nowhere", severity="high", effect="Moves files to where nothing can be read back.",
        programs="mv", operand=r"/dev/null",
        example="mv results /dev/null", counterexample="mv results archive",
    ),
    Rule(
        id="rsync-delete", severity="medium", effect="Deletes at the target whatever the source does not have.",
        programs="rsync", words=r" --del(?:ete)?(?:-\w+)?\b", without="-n --dry-run",
        example="rsync -a --delete build/ host:/srv/site", counterexample="rsync -a --delete --dry-run build/ host:/srv/site",
    ),
)  # fmt: skip
