"""Machines, clusters and services that others use: destroying, deploying, publishing."""

from preheat.live.safety.rule import Rule

SERVICES = (
    Rule(
        id="infrastructure-destroy", severity="critical", effect="Destroys infrastructure without asking.",
        programs="terraform tofu terragrunt pulumi cdk cdktf", arguments=r"(?:destroy|run-all destroy|apply)",
        words=r"\bdestroy\b.*(?:-auto-approve|--auto-approve|--yes|-y\b|--force|--skip-preview|--terragrunt-non-interactive)"
              r"|\bapply\b.*-destroy\b.*-auto-approve|\bapply\b.*-auto-approve.*-destroy\b",
        example="terraform destroy -auto-approve", counterexample="terraform plan -destroy",
    ),
    Rule(
        id="infrastructure-change",
        severity="high",
        effect="Changes or destroys infrastructure; with nobody looking at the plan if it is told not to ask.",
        programs="terraform tofu terragrunt pulumi cdk cdktf", arguments=r"(?:destroy|apply|up|deploy)",
        words=r"\bdestroy\b(?!.*(?:-auto-approve|--yes|--force))|(?:\bapply\b|\bup\b"
              r"|\bdeploy\b)(?!.*-destroy).*(?:-auto-approve|--yes|-y\b|--skip-preview|--require-approval[= ]never)",
        example="terraform apply -auto-approve", counterexample="terraform apply plan.out",
    ),
    Rule(
        id="cluster-delete-all", severity="critical", effect="Deletes a namespace, a node, or everything of a kind.",
        programs="kubectl oc",
        arguments=r"delete\b",
        words=r" delete (?:-\S+ (?:\S+ )?)*(?:ns|namespaces?|nodes?|crds?|customresourcedefinitions?|pv"
              r"|persistentvolumes?)\b| --all(?:-namespaces)?\b| -A\b",
        without="--dry-run",
        example="kubectl delete namespace shop", counterexample="kubectl delete pod shop-1",
    ),
    Rule(
        id="cluster-delete", severity="medium", effect="Deletes something from a cluster.",
        programs="kubectl oc helm", arguments=r"delete\b|uninstall\b", without="--dry-run",
        unless=r" delete (?:-\S+ (?:\S+ )?)*(?:ns|namespaces?|nodes?|crds?|customresourcedefinitions?|pv|persistentvolumes?"
               r"|pods?|po|jobs?)\b| --all(?:-namespaces)?\b",
        example="helm uninstall shop", counterexample="kubectl get deployments",
    ),
    Rule(
        id="cloud-delete", severity="high", effect="Deletes or ends something in a cloud account.",
        programs="aws gcloud az gsutil oci doctl linode-cli",
        words=r"^aws .*\b(?:delete-[\w-]+|terminate-[\w-]+|s3 rb|s3 rm .*--recursive|s3 sync .*--delete"
              r"|schedule-key-deletion|deregister-[\w-]+)|^(?:gcloud|az|oci|doctl|linode-cli) .*\b(?:delete|purge)\b"
              r"|^gsutil .*\b(?:rm -\w*r|rb)\b|^az group delete",
        without="--dryrun --dry-run --generate-cli-skeleton help",
        example="aws s3 rb s3://bucket --force", counterexample="aws s3 ls s3://bucket",
    ),
    Rule(
        id="application-destroy", severity="high", effect="Destroys a hosted application or its data.",
        programs="heroku fly flyctl vercel netlify railway firebase wrangler render dokku supabase neonctl",
        words=r"^heroku .*\b(?:apps:destroy|apps:delete|pg:reset|addons:destroy)|^fly(?:ctl)? .*\bdestroy\b"
              r"|^vercel .*\b(?:remove|rm)\b|^netlify .*\bdelete\b|^railway .*\b(?:down|delete)\b|^firebase .*(?::delete"
              r"|delete)\b|^wrangler .*\bdelete\b|^dokku apps:destroy|^(?:supabase|neonctl) .*\bdelete\b",
        example="fly apps destroy shop", counterexample="fly status",
    ),
    Rule(
        id="deploy-production", severity="medium", effect="Puts something before its users.",
        programs="vercel netlify fly flyctl firebase wrangler serverless sls eb gcloud heroku railway cap ansible-playbook",
        words=r"^vercel .*--prod\b|^netlify deploy .*--prod\b|^fly(?:ctl)? deploy\b|^firebase deploy\b|^wrangler (?:deploy"
              r"|publish|pages deploy)\b|^(?:serverless|sls) deploy\b.*(?:--stage|-s)[= ]prod|^eb deploy\b|^gcloud (?:app"
              r"|run|functions) deploy\b|^railway up\b|^cap production deploy",
        without="--dry-run --help",
        example="vercel --prod", counterexample="vercel dev",
    ),
    Rule(
        id="container-data-loss", severity="medium", effect="Removes containers' data or every image that is not in use.",
        programs="docker podman docker-compose nerdctl",
        words=r" system prune\b.*(?:-\w*a|--all|--volumes)| volume (?:rm|prune)\b|(?:compose"
              r"|docker-compose)\b.* down\b.* (?:-v|--volumes)\b| image prune\b.* (?:-\w*a|--all)\b"
              r"| rm -\w*f\w* (?:-\w+ )*\$\((?:docker|podman) ps",
        example="docker system prune -a --volumes", counterexample="docker compose down",
    ),
    Rule(
        id="container-open", severity="high", effect="Starts a container that can do anything to the machine.",
        programs="docker podman nerdctl",
        arguments=r"(?:container )?(?:run|create)\b",
        words=r" --privileged\b| (?:-v|--volume)[= ]/:/| --pid[= ]host\b| /var/run/docker\.sock:",
        example="docker run --privileged image", counterexample="docker run --rm image",
    ),
    Rule(
        id="publish-package", severity="high", effect="Publishes a package to the world; a version cannot be taken back.",
        programs="npm pnpm yarn bun cargo poetry uv pdm hatch flit twine gem mvn gradle gradlew dotnet nuget mix dart "
                 "flutter vsce ovsx clojure lein lerna changeset semantic-release np goreleaser",
        words=r"^(?:npm|pnpm|yarn|bun|cargo|poetry|uv|pdm|hatch|flit|lerna|changeset|vsce"
              r"|ovsx) (?:-\S+ (?:\S+ )?)*(?:npm |run )?publish\b|^(?:pnpm|yarn) .*\b(?:-r|workspaces? \S+) .*publish\b"
              r"|^twine upload\b|^gem push\b|^mvn .*\bdeploy\b|^gradlew? .*\bpublish(?!ToMavenLocal)\w*"
              r"|^(?:dotnet )?nuget push\b|^mix hex\.publish\b|^(?:dart|flutter) pub publish\b|^lein deploy\b"
              r"|^semantic-release\b|^np\b|^goreleaser release\b",
        without="--dry-run -n --help -h --snapshot --skip-publish",
        example="npm publish", counterexample="npm publish --dry-run",
    ),
    Rule(
        id="unpublish", severity="high", effect="Takes back a package that others depend on.",
        programs="npm cargo gem", arguments=r"unpublish\b|deprecate\b|yank\b",
        example="npm unpublish shop@1.0.0", counterexample="npm outdated",
    ),
    Rule(
        id="push-image", severity="medium", effect="Publishes an image, a release or a package to a registry.",
        programs="docker podman gh helm crane skopeo", arguments=r"(?:image )?push\b|release create\b|copy\b.* docker://",
        unless=r" push (?:localhost|127\.0\.0\.1)[:/]| --dry-run\b| --draft\b",
        example="docker push owner/image:latest", counterexample="docker build -t owner/image .",
    ),
)  # fmt: skip
